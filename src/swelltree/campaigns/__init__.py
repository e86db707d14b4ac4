"""Campaigns: thousands of cases of one model, run by many processes into one store.

`campaign`: the class users make, or a `file` describes; `vary`: what varies; `cases`: the table and
its checks. `drive` hands blocks to a `pool` of processes, which do the `work`; `store` keeps
results, and `opened` is the store as a dataset.
"""

"""The compiled model: arrays are leaves, the layout is static.

`model`: the model itself. `effect`: the base class of effects; `capabilities`: what effects may do
besides exerting loads. `channels`: the table of all channels. `solved`: loads of all effects at an
instant. `sea`, `signals`: water, wind and functions of time. `values`: numbers by name. `checks`.
"""

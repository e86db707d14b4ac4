"""Bodies and their hulls.

`body`, shapes in `hulls`, volumes in `solids`, panels in `hull_panels`, `meshes`.
"""

"""Sphinx configuration: MyST pages, numbered equations, bibliography, API from docstrings."""

from importlib import metadata

project = "swelltree"
author = "The swelltree developers"
copyright = "The swelltree developers"
try:
    release = metadata.version("swelltree")
except metadata.PackageNotFoundError:
    release = "development"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "tables"]  # tables are parts of pages
html_theme = "furo"
html_title = "swelltree"

# Markdown: $...$ and $$...$$ (label), ::: directives, anchors for headings
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# every displayed equation has a number, references read "eq. (n)"
math_number_all = True
math_eqref_format = "eq. ({number})"
numfig = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

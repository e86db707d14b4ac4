"""Sphinx configuration: MyST pages, numbered equations, bibliography, reference of the package."""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import notebooks  # noqa: E402
import reference  # noqa: E402

reference.write(HERE / "reference")
notebooks.write(HERE / "reference")

project = "swelltree"
author = "The swelltree developers"
copyright = "The swelltree developers"
try:
    release = metadata.version("swelltree")
except metadata.PackageNotFoundError:
    release = "development"

extensions = [
    "myst_parser",
    "mathml",
    "sphinxcontrib.bibtex",
]
html_math_renderer = "mathml"  # equations need no network
exclude_patterns = ["_build", "tables"]  # tables are parts of pages
html_theme = "furo"
html_title = "swelltree"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

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


def setup(app) -> None:
    """Device and tutorial pages get a link to their notebook."""

    def add_link(app, name: str, source: list[str]) -> None:
        source[0] = notebooks.with_link(name, source[0])

    app.connect("source-read", add_link)

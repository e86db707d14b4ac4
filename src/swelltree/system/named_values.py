"""Values by name, as a case file, a page of JSON and keyword arguments have them."""

from typing import Any

# what stands behind a name is known to whoever reads it: numbers, texts, lists, further names
NamedValues = dict[str, Any]

"""One file per algorithm family; each asks a source, and none sees a row."""

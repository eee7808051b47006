"""Speed and memory of fits on every engine, against what reading the rows alone costs there."""

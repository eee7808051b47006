"""Parts that algorithms share; algorithms do not import each other."""

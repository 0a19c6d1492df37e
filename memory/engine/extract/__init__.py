"""The offline extractors of ARBORMEM §4: rules over one interaction and its path, pure and in the source's own words."""

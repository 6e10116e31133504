"""The benchmark: what conversions cost, by hand, with gymbridge and with Gymnasium."""

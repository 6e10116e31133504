"""The tests are a package, so that `tests.support` is never another project's module."""

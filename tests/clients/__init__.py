"""Other libraries play: `make test-clients` runs these tests in environments of their own.

The default test run leaves them out.
"""

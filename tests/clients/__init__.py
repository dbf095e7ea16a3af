"""Other libraries play: `make clients` runs these tests in an environment of their own. The default test run leaves them out."""

"""`python -m training.values`."""

import sys

from training.values.train import main

if __name__ == "__main__":
    sys.exit(main())

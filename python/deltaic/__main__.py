"""``python -m deltaic``: the same as the command ``deltaic``."""

import sys

from deltaic.cli import main

sys.exit(main())

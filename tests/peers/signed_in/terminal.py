"""Gives a program the terminal that it insists on; what it prints goes to standard output.

    python terminal.py COMMAND [WORD…]
"""

import os
import pty
import sys

sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))

"""A test that hangs says where, a little before its limit ends it."""

import faulthandler
import os

if "TEST_LIMIT_S" in os.environ:
    faulthandler.dump_traceback_later(float(os.environ["TEST_LIMIT_S"]) - 5)

package gatewright.admission

import data.lib.hours

deny contains {"code": "x"} if hours.closed

# want: refused 5 data.lib is not there

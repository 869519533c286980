package gatewright.admission

import data.lib.hours

deny contains {"code": "x"} if hours.closed

deny contains {"code": "y"} if hours.is_closed(input.request.hour)

# want: refused 7 is_closed

package gatewright.admission

deny contains {"code": "x"} if json.match_schema({}, {"$ref": "file:///etc/passwd"})[0]

# want: refused 3 json.match_schema

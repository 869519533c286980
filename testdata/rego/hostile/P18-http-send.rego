package gatewright.admission

deny contains {"code": "x"} if http.send({"method": "get", "url": "http://127.0.0.1/"}).status_code != 200

# want: refused 3 http.send

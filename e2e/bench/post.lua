-- Sends one file as the body of every request: wrk -s post.lua URL -- FILE
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function init(args)
    local file = assert(io.open(args[1], "rb"))
    wrk.body = file:read("*a")
    file:close()
end

function done(summary, latency, requests)
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
    io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
        latency:percentile(99), errors))
end

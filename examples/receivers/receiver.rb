# WEBHOOK_SECRET=whsec_... ruby receiver.rb (needs the gem webrick)
require "json"
require "openssl"
require "pstore"
require "webrick"

KEY = ENV.fetch("WEBHOOK_SECRET").delete_prefix("whsec_").unpack1("m")
TOLERANCE_SECONDS = 300
STORE = PStore.new(ENV.fetch("DATABASE", "receiver.pstore"), true)
STORE.ultra_safe = true

def genuine?(request, body)
  id, timestamp = request["webhook-id"].to_s, request["webhook-timestamp"].to_s
  return false unless timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= TOLERANCE_SECONDS
  expected = "v1," + [OpenSSL::HMAC.digest("SHA256", KEY, "#{id}.#{timestamp}.".b + body)].pack("m0")
  # While the secret is rotated there are two signatures.
  request["webhook-signature"].to_s.split.any? { |given| OpenSSL.secure_compare(given, expected) }
end

# A fact that arrives twice, or after its retraction, changes nothing. Put your own changes into the same transaction.
def receive(delivery)
  STORE.transaction do
    if delivery["reverts"]
      STORE[delivery["reverts"]] = "retracted"
    else
      STORE[delivery["id"]] ||= delivery.slice("id", "event", "height", "blockId")
    end
  end
end

def facts
  STORE.transaction(true) { STORE.roots.map { |id| STORE[id] }.grep(Hash) }
end

class Receiver < WEBrick::HTTPServlet::AbstractServlet
  def do_POST(request, response)
    body = request.body.to_s.b
    response.status = 401
    return unless genuine?(request, body)
    receive(JSON.parse(body.force_encoding("UTF-8")))
    response.status = 204
  end

  # The view for `uniknode conform`.
  def do_GET(_request, response)
    return response.status = 404 unless ENV["CONFORM"]
    response.body = JSON.generate(facts: facts)
  end
end

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: ENV.fetch("PORT", 8000).to_i, AccessLog: [])
server.mount("/", Receiver)
trap("TERM") { server.shutdown }
trap("INT") { server.shutdown }
server.start

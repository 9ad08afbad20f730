<?php
// WEBHOOK_SECRET=whsec_... PHP_CLI_SERVER_WORKERS=4 php -S 127.0.0.1:8000 receiver.php (needs the SQLite extension)

const TOLERANCE_SECONDS = 300;

function isGenuine(string $key, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $digest = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // While the secret is rotated there are two signatures.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals("v1,$digest", $signature)) {
            return true;
        }
    }
    return false;
}

function openDatabase(): PDO
{
    $database = new PDO('sqlite:' . (getenv('DATABASE') ?: 'receiver.sqlite'), options: [PDO::ATTR_TIMEOUT => 10]);
    $database->exec('CREATE TABLE IF NOT EXISTS fact
        (id TEXT PRIMARY KEY, event TEXT, height INTEGER, blockId TEXT, retracted INTEGER)');
    return $database;
}

// The view for `uniknode conform`.
if (getenv('CONFORM') && $_SERVER['REQUEST_METHOD'] === 'GET') {
    $facts = openDatabase()->query('SELECT id, event, height, blockId FROM fact WHERE retracted = 0');
    header('Content-Type: application/json');
    echo json_encode(['facts' => $facts->fetchAll(PDO::FETCH_ASSOC)]);
    exit;
}

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
$body = file_get_contents('php://input');
if (!isGenuine($key, $body)) {
    http_response_code(401);
    exit;
}
$delivery = json_decode($body, true);
// A fact that arrives twice, or after its retraction, changes nothing. Put your own changes into the same transaction.
if (isset($delivery['reverts'])) {
    openDatabase()->prepare('INSERT INTO fact (id, retracted) VALUES (?, 1)
        ON CONFLICT (id) DO UPDATE SET retracted = 1')->execute([$delivery['reverts']]);
} else {
    openDatabase()->prepare('INSERT INTO fact VALUES (?, ?, ?, ?, 0) ON CONFLICT DO NOTHING')->execute(
        [$delivery['id'], $delivery['event'], $delivery['height'] ?? null, $delivery['blockId'] ?? null]
    );
}
http_response_code(204);

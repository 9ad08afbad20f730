<?php
// WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:8000 receiver.php

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

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
$body = file_get_contents('php://input');
if (!isGenuine($key, $body)) {
    http_response_code(401);
    exit;
}
$delivery = json_decode($body, true);
// A delivery may come twice: store the ids that you have handled. "reverts" names one to undo.
error_log($delivery['id'] . ' ' . $delivery['event'] . ' ' . ($delivery['reverts'] ?? ''));
http_response_code(204);

<?php
// $body is the request as it came: file_get_contents('php://input').
function isGenuine(string $secret, string $header, string $body): bool
{
    if (!preg_match('/\At=([0-9]+),v1=([0-9a-f]{64})\z/', $header, $match) || abs(time() - (int) $match[1]) > 300) {
        return false;
    }
    return hash_equals(hash_hmac('sha256', "$match[1].$body", $secret), $match[2]);
}

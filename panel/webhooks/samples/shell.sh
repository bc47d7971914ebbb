# $SECRET and $HEADER, the value of X-Service-Signature; the body as it came is in the file body.json.
t=${HEADER#t=}
t=${t%%,*}
expected=$({ printf '%s.' "$t"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
[ "$HEADER" = "t=$t,v1=$expected" ] && [ $(($(date +%s) - t)) -le 300 ] && echo genuine

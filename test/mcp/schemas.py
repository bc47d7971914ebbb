"""Reads the tools of a list from stdin, and refuses schemas that Python's jsonschema or google-genai do not take."""

import json
import sys

from google.genai import types
from jsonschema import Draft7Validator, Draft202012Validator

for tool in json.load(sys.stdin):
    schema = tool["inputSchema"]
    Draft7Validator.check_schema(schema)
    Draft202012Validator.check_schema(schema)
    read = types.JSONSchema.model_validate(schema)
    for option in ("GEMINI_API", "VERTEX_AI"):
        types.Schema.from_json_schema(
            json_schema=read, api_option=option, raise_error_on_unsupported_field=True
        )
    print(tool["name"])

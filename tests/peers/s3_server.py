"""An S3 store in memory: moto, open only to who signs with the right secret.

    python s3_server.py BUCKET KEY_FILE

Serves an empty bucket on a free port of 127.0.0.1, writes the key that opens it to the file, and then one line of
JSON to standard error: that it listens, and where.
"""

import json
import logging
import os
import signal
import sys

# Signatures are checked from the start but for the requests that make the key and the bucket.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"

import boto3
from moto.server import ThreadedMotoServer

POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}


def prepare(endpoint: str, bucket: str) -> dict[str, str]:
    """Makes the bucket and a key that opens it, in as many requests as are free."""
    settings = {
        "endpoint_url": endpoint,
        "region_name": "us-east-1",
        "aws_access_key_id": "nobody",
        "aws_secret_access_key": "nothing",
    }
    iam = boto3.client("iam", **settings)
    iam.create_user(UserName="peer")
    iam.put_user_policy(UserName="peer", PolicyName="all", PolicyDocument=json.dumps(POLICY))
    key = iam.create_access_key(UserName="peer")["AccessKey"]
    boto3.client("s3", **settings).create_bucket(Bucket=bucket)
    return {"access_key_id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}


def main() -> None:
    """Serves until it is ended."""
    if len(sys.argv) != 3:
        sys.exit("usage: s3_server.py BUCKET KEY_FILE")
    _, bucket, key_file = sys.argv
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    key = prepare(f"http://{host}:{port}", bucket)
    with open(key_file, "w", encoding="utf-8") as file:
        json.dump(key, file)
    print(json.dumps({"message": "listening", "addr": f"{host}:{port}"}), file=sys.stderr, flush=True)
    signal.pause()


main()

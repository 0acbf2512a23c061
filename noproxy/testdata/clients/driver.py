"""Asks one Python client. A line of JSON in ({"env", "url"}), a line out."""

import json
import os
import sys
from urllib.parse import urlsplit

TIMEOUT = 5


def urllib_get(url):
    import ssl
    import urllib.request

    urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
    ).open(url, timeout=TIMEOUT).read()


def requests_get(url):
    import requests

    with requests.Session() as session:
        session.get(url, timeout=TIMEOUT, allow_redirects=False)


def pip_get(url):
    from pip._internal.network.session import PipSession

    with PipSession(retries=0) as session:
        session.get(url, timeout=TIMEOUT, allow_redirects=False)


def urllib3_get(url):
    import ssl

    import urllib3

    context = ssl._create_unverified_context()
    urllib3.PoolManager(retries=False, timeout=TIMEOUT, ssl_context=context).request("GET", url)


def botocore_get(url):
    from botocore.awsrequest import AWSRequest
    from botocore.httpsession import URLLib3Session
    from botocore.utils import ContainerMetadataFetcher, get_environ_proxies

    host = urlsplit(url).hostname
    if host in ("169.254.170.2", "169.254.170.23", "fd00:ec2::23"):
        fetcher = ContainerMetadataFetcher(sleep=lambda _: None)
        fetcher.RETRY_ATTEMPTS = 1
        fetcher.retrieve_full_uri(url)
        return
    session = URLLib3Session(timeout=TIMEOUT, proxies=get_environ_proxies(url))
    session.send(AWSRequest("GET", url).prepare())


def httpx_get(url):
    import httpx

    with httpx.Client(verify=False, timeout=TIMEOUT) as client:
        client.get(url)


def aiohttp_get(url):
    import asyncio

    import aiohttp

    async def get():
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        async with aiohttp.ClientSession(trust_env=True, timeout=timeout) as session:
            async with session.get(url, allow_redirects=False) as response:
                await response.read()

    asyncio.run(get())


def dnf_get(url):
    import tempfile

    import librepo

    with tempfile.TemporaryDirectory() as folder:
        handle = librepo.Handle()
        handle.urls = [url]
        handle.repotype = librepo.LR_YUMREPO
        handle.destdir = folder
        handle.sslverifypeer = False
        handle.maxmirrortries = 1
        handle.allowedmirrorfailures = 1
        handle.perform(librepo.Result())


def set_environment(env):
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in ("REQUEST_METHOD", "GATEWAY_INTERFACE"):
            del os.environ[name]
    os.environ.update(env)


def main():
    get = globals()[sys.argv[1] + "_get"]
    for line in sys.stdin:
        vector = json.loads(line)
        set_environment(vector["env"])
        try:
            get(vector["url"])
            print("ok", flush=True)
        except Exception as error:
            print(" ".join(f"{type(error).__name__}: {error}".split())[:300], flush=True)


main()

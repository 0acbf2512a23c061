#!/bin/bash
# Written by "eksproxy userdata render": joins the node to its cluster, with the
# environment that the boothook has written.
set -a
. /etc/eksproxy/proxy.env
set +a

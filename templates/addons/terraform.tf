# eksproxy format 1
# The values that put EKS add-ons behind the proxy, checked against the schemas of
# %VERSIONS%.
#
#   resource "aws_eks_addon" "%RESOURCE%" {
#     addon_name                  = "%ADDON%"
#     addon_version               = "%VERSION%"
#     configuration_values        = local.eksproxy_addon_configuration["%ADDON%"]
#     resolve_conflicts_on_update = "PRESERVE"
#   }
#
# With values of your own:
#
#   configuration_values = jsonencode(merge(
#     { ... }, # your own
#     local.eksproxy_addon_values["%ADDON%"],
#   ))
#
# merge() looks at the first level alone: of an object or a list that both have, it
# takes the later one whole. Here that is %NAMES%: where your own
# values have that too, put both together with merge() or concat() of that level.

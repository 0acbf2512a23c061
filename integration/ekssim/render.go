package ekssim

import (
	"maps"
	"slices"
	"strings"
)

// render puts values into an object, as the charts of the add-ons do.
func render(addon string, object map[string]any, values map[string]any) error {
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return nil
	}
	template := spec["template"].(map[string]any)
	workload := object["metadata"].(map[string]any)["name"].(string)
	switch addon {
	case "vpc-cni":
		merge(template, "aws-node", section(values, "env"))
		merge(template, "aws-vpc-cni-init", section(section(values, "init"), "env"))
		extend(template, "aws-node", values["extraEnv"])
	case "kube-proxy":
		annotate(template, section(values, "podAnnotations"))
	case "eks-pod-identity-agent":
		merge(template, "eks-pod-identity-agent", section(section(values, "agent"), "env"))
	case "aws-ebs-csi-driver":
		if proxy := section(values, "proxy"); len(proxy) > 0 {
			variables := map[string]any{"HTTP_PROXY": proxy["http_proxy"], "HTTPS_PROXY": proxy["http_proxy"], "NO_PROXY": proxy["no_proxy"]}
			for _, c := range containers(template) {
				merge(template, c["name"].(string), variables)
			}
		}
		of := section(values, strings.TrimPrefix(workload, "ebs-csi-"))
		extend(template, "ebs-plugin", of["env"])
		annotate(template, section(of, "podAnnotations"))
		if n, ok := of["replicaCount"]; ok && workload == "ebs-csi-controller" {
			spec["replicas"] = n
		}
	}
	return nil
}

func section(values map[string]any, name string) map[string]any {
	m, _ := values[name].(map[string]any)
	return m
}

func containers(template map[string]any) []map[string]any {
	var all []map[string]any
	spec := template["spec"].(map[string]any)
	for _, list := range []string{"initContainers", "containers"} {
		items, _ := spec[list].([]any)
		for _, c := range items {
			all = append(all, c.(map[string]any))
		}
	}
	return all
}

// merge sets variables of a container by name, and adds those that lack.
func merge(template map[string]any, container string, variables map[string]any) {
	for _, c := range containers(template) {
		if c["name"] != container {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			items, _ := c["env"].([]any)
			i := slices.IndexFunc(items, func(e any) bool { return e.(map[string]any)["name"] == name })
			item := map[string]any{"name": name, "value": variables[name]}
			if i < 0 {
				c["env"] = append(items, item)
			} else {
				items[i] = item
			}
		}
	}
}

// extend adds items to the variables of a container.
func extend(template map[string]any, container string, items any) {
	more, _ := items.([]any)
	for _, c := range containers(template) {
		if c["name"] == container && len(more) > 0 {
			before, _ := c["env"].([]any)
			c["env"] = append(before, more...)
		}
	}
}

func annotate(template map[string]any, annotations map[string]any) {
	if len(annotations) == 0 {
		return
	}
	meta := template["metadata"].(map[string]any)
	all, _ := meta["annotations"].(map[string]any)
	if all == nil {
		all = map[string]any{}
		meta["annotations"] = all
	}
	maps.Copy(all, annotations)
}

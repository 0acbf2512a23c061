package clustercheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/eksproxy/eksproxy/addons"
	"github.com/eksproxy/eksproxy/internal/kube"
	"github.com/eksproxy/eksproxy/noproxy"
	"github.com/eksproxy/eksproxy/verify"
)

// spaceSecrets demands that each workload namespace has its own Secret where the
// variables come from one: none is copied, and a namespace without it is left
// alone. What patched workloads refer to is looked at elsewhere.
func (s *subject) spaceSecrets(ctx context.Context) []verify.Finding {
	names, found := s.workloadSpaces(ctx)
	if found != nil {
		return found
	}
	patched, _ := s.managed(ctx) // that some may not be listed is said elsewhere
	refs := secretsOf(patched)
	name := secretName(s.o.Wanted, refs)
	if name == "" {
		return skip("no variable comes from a Secret")
	}
	for _, space := range names {
		r := kube.Ref{Kind: kube.Secret(), Namespace: space, Name: name}
		if slices.Contains(refs, r) {
			continue
		}
		live, err := s.world.get(ctx, r)
		switch {
		case err != nil:
			found = append(found, s.hiddenSecret(r, err))
		case live == nil:
			remedy := fmt.Sprintf("kubectl -n %s create secret generic %s --from-file=HTTP_PROXY=FILE --from-file=HTTPS_PROXY=FILE, each FILE a URL without a line end; then %s", space, name, s.patchSpace(space))
			found = append(found, fail(r.String(), remedy, "it is not there: the namespace is left alone, since no Secret is copied"))
		}
	}
	return orPass(found, "in %d namespaces", len(names))
}

// secretName is the Secret that the settings name, else that of a patched workload.
func secretName(wanted *addons.Desired, refs []kube.Ref) string {
	switch {
	case wanted != nil && wanted.Options.CreateSecret:
		return addons.SecretName
	case wanted != nil && wanted.Options.CredentialsSecret != "":
		return wanted.Options.CredentialsSecret
	case len(refs) > 0:
		return refs[0].Name
	}
	return ""
}

// fargateImages warns of images that are pulled from elsewhere than the account's
// ECR where a Fargate profile takes the pods (BL-055).
func (s *subject) fargateImages(ctx context.Context) []verify.Finding {
	known := s.o.Cluster
	switch {
	case len(known.FargateProfiles) == 0:
		return skip("no Fargate profile is known: give --cluster or --facts")
	case known.Account == "":
		return skip("the account is unknown: give --cluster or --facts")
	}
	var found []verify.Finding
	n := 0
	for _, k := range []kube.Kind{kube.Deployment(), kube.StatefulSet(), kube.ReplicaSet(), kube.CronJob()} {
		all, err := s.collect(ctx, "", metav1.ListOptions{}, k)
		if err != nil {
			return one(skipped(k.Resource, "they may not be listed: %v", err))
		}
		for _, w := range all {
			profile, ok := known.ProfileFor(w.ref.Namespace, w.template.Labels)
			if !ok {
				continue
			}
			n++
			if images := s.foreignImages(w); len(images) > 0 {
				found = append(found, warn(w.ref.String(), "copy the images into the account's ECR, which needs the endpoints ecr.api, ecr.dkr and s3",
					"the Fargate profile %s takes it, whose hosts pull through no proxy, and these images are outside of the account's ECR: %s", noproxy.Quote(profile.Name), few(images)))
			}
		}
	}
	return orPass(found, "%d workloads that a profile takes", n)
}

// foreignImages are those of a workload that are not in the account's own ECR, in
// whichever region.
func (s *subject) foreignImages(w *workload) []string {
	registry := s.o.Cluster.Account + ".dkr.ecr"
	var images []string
	for _, c := range w.containers() {
		own := strings.HasPrefix(c.Image, registry+".") || strings.HasPrefix(c.Image, registry+"-fips.")
		if !own && !slices.Contains(images, c.Image) {
			images = append(images, c.Image)
		}
	}
	return images
}

// fargateEndpoints warns of what the hosts of Fargate call and cannot reach.
func (s *subject) fargateEndpoints(context.Context) []verify.Finding {
	missing, known := addons.MissingForFargate(s.o.Cluster)
	switch {
	case len(s.o.Cluster.FargateProfiles) == 0:
		return skip("no Fargate profile is known: give --cluster or --facts")
	case !known:
		return skip("the endpoints of the VPC are unknown: give --cluster or --facts")
	case len(missing) > 0:
		return one(warn("Fargate", "aws ec2 create-vpc-endpoint for each of them", "image pulls, the log router and the kubelet cannot be given a proxy there, and the VPC has no usable endpoint for %s: without a way past the proxy, pods do not start", strings.Join(missing, ", ")))
	}
	return pass("%s", strings.Join(addons.FargateServices(), ", "))
}

package addons

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/eksproxy/eksproxy/facts"
)

// version is the version of an add-on to come: the one that is named, else the
// one that EKS takes by default with the Kubernetes to come, and the installed one
// where that is not older. Why says what is wrong with it; a version that is empty
// is one that EKS does not have.
func (l *aheadLook) version(ctx context.Context, installed facts.Addon) (v, why string, err error) {
	named := l.Versions[installed.Name]
	if l.Kubernetes == "" {
		return named, "", nil
	}
	all, byDefault, err := versionsFor(ctx, l.Catalog, installed.Name, l.Kubernetes)
	if err != nil {
		return "", "", err
	}
	switch {
	case named != "" && !slices.Contains(all, named):
		return named, fmt.Sprintf("EKS does not offer this version for Kubernetes %s", l.Kubernetes), nil
	case named != "":
		return named, "", nil
	case len(all) == 0:
		return "", fmt.Sprintf("EKS has no version of it for Kubernetes %s; remove the add-on, or look at its support", l.Kubernetes), nil
	case byDefault == "":
		byDefault = slices.MaxFunc(all, compareVersions)
	}
	if slices.Contains(all, installed.Version) && compareVersions(installed.Version, byDefault) >= 0 {
		return installed.Version, "", nil
	}
	return byDefault, "", nil
}

// versionsFor are the versions of an add-on that go with a Kubernetes, and the one
// that EKS installs by default; that is empty where there is none.
func versionsFor(ctx context.Context, catalog Catalog, name, kubernetes string) (all []string, byDefault string, err error) {
	pages := eks.NewDescribeAddonVersionsPaginator(catalog, &eks.DescribeAddonVersionsInput{AddonName: &name, KubernetesVersion: &kubernetes})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if isGone(err) || isInvalid(err) {
			return nil, "", optionf("EKS knows no versions of the add-on %s for Kubernetes %s: %s; look at --kubernetes-version and --addon", name, kubernetes, apiText(err))
		}
		if err != nil {
			return nil, "", calling("eks:DescribeAddonVersions", err)
		}
		for _, a := range page.Addons {
			for _, v := range a.AddonVersions {
				all = append(all, aws.ToString(v.AddonVersion))
				for _, c := range v.Compatibilities {
					if aws.ToString(c.ClusterVersion) == kubernetes && c.DefaultVersion {
						byDefault = aws.ToString(v.AddonVersion)
					}
				}
			}
		}
	}
	return all, byDefault, nil
}

// compareVersions compares versions such as v1.21.1-eksbuild.3, in the order of
// semantic versioning; those that are none come first.
func compareVersions(a, b string) int {
	x, err1 := version.ParseSemantic(a)
	y, err2 := version.ParseSemantic(b)
	switch {
	case err1 != nil && err2 != nil:
		return 0
	case err1 != nil:
		return -1
	case err2 != nil:
		return 1
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return 0
}

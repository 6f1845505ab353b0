package clouds

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Cloud is one that objects of a cluster tell of.
type Cloud struct {
	// Name stands before the region in the names of its catalogs; it is empty for a cloud of which
	// none is embedded.
	Name string
	// Title is the name for readers, e.g. "Google Cloud".
	Title string
	// Usual is a region that many use, for examples.
	Usual string
}

// cloud is one whose catalogs are embedded.
type cloud struct {
	Cloud

	catalog func(region string) (*instancetypes.Catalog, error)
	regions func() []string
	// committed, if not nil, has prices of commitments.
	committed func(region string, years int) (instancetypes.Prices, error)
	// provider is the scheme of spec.providerID of its nodes, domains are those of its labels, API
	// groups and storage drivers; subdomains count.
	provider string
	domains  []string
}

func all() []cloud {
	return []cloud{
		{Cloud{"ec2", "Amazon EC2", "us-east-1"}, ec2.Catalog, ec2.Regions, nil, "aws", []string{"amazonaws.com", "k8s.aws", "csi.aws.com"}},
		{Cloud{"azure", "Azure", "eastus"}, azure.Catalog, azure.Regions, nil, "azure", []string{"karpenter.azure.com", "kubernetes.azure.com", "csi.azure.com"}},
		{Cloud{"gcp", "Google Cloud", "us-central1"}, gcp.Catalog, gcp.Regions, gcp.Committed, "gce", []string{"cloud.google.com", "gke.io", "k8s.gcp"}},
	}
}

// OfDomain returns the cloud that a domain of labels, API groups or storage drivers is of.
func OfDomain(domain string) (Cloud, bool) {
	for _, c := range all() {
		if slices.ContainsFunc(c.domains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }) {
			return c.Cloud, true
		}
	}
	return Cloud{}, false
}

// OfProvider returns the cloud that the scheme of a node's spec.providerID is of, such as aws in
// aws:///eu-west-1a/i-0abc. Clusters on one's own machine are of none.
func OfProvider(scheme string) (Cloud, bool) {
	for _, c := range all() {
		if c.provider == scheme {
			return c.Cloud, true
		}
	}
	if slices.Contains([]string{"", "k0s", "k3s", "kind", "kwok", "minikube"}, scheme) {
		return Cloud{}, false
	}
	return Cloud{Title: scheme}, true
}

// Names returns the names of all catalogs.
func Names() (names []string) {
	for _, c := range all() {
		for _, region := range c.regions() {
			names = append(names, c.Name+"/"+region)
		}
	}
	return names
}

// of splits a name at the cloud.
func of(name string) (c cloud, region string, ok bool) {
	for _, c := range all() {
		if region, ok := strings.CutPrefix(name, c.Name+"/"); ok {
			return c, region, true
		}
	}
	return c, "", false
}

// Open returns the catalog of a name, and whether the name is one of a cloud's.
func Open(name string) (c *instancetypes.Catalog, ok bool, err error) {
	from, region, ok := of(name)
	if ok {
		c, err = from.catalog(region)
	}
	return c, ok, err
}

// RegionOf is the region in the labels of a node, "" where none is stated.
func RegionOf(node *corev1.Node) string {
	return cmp.Or(node.Labels[corev1.LabelTopologyRegion], node.Labels[corev1.LabelFailureDomainBetaRegion])
}

// OfRegion returns the embedded catalog of a region. No two clouds have regions of one name.
func OfRegion(region string) (*instancetypes.Catalog, error) {
	for _, c := range all() {
		if slices.Contains(c.regions(), region) {
			return c.catalog(region)
		}
	}
	return nil, fmt.Errorf("no catalog of region %q is embedded", region)
}

// Committed returns the prices of the machines of a catalog under a commitment for a term, "1y" or "3y". The catalog is
// given by name.
func Committed(name, term string) (p instancetypes.Prices, err error) {
	if name == "" {
		return p, errors.New("committed-use prices are those of one catalog of gcp, and none is named")
	}
	from, region, ok := of(name)
	if !ok || from.committed == nil {
		return p, fmt.Errorf("catalog %s has no committed-use prices: only the catalogs of gcp have them", name)
	}
	years, err := strconv.Atoi(strings.TrimSuffix(term, "y"))
	if err != nil || !strings.HasSuffix(term, "y") {
		return p, fmt.Errorf("commitment of %q: want 1y or 3y", term)
	}
	return from.committed(region, years)
}

// Near returns the catalogs of a region whose cloud is left out of a name or is another one.
func Near(name string) (names []string) {
	region := name[strings.LastIndexByte(name, '/')+1:]
	for _, c := range all() {
		if slices.Contains(c.regions(), region) {
			names = append(names, c.Name+"/"+region)
		}
	}
	return names
}

// Region returns the catalog and the region that a zone or region belongs to; nothing if none
// is embedded.
func Region(place string) (catalog, region string) {
	for _, name := range Names() {
		if _, region, _ := of(name); offerings.InRegion(place, region) {
			return name, region
		}
	}
	return "", ""
}

package clouds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
)

// cloud is one whose catalogs are embedded.
type cloud struct {
	name    string
	catalog func(region string) (*instancetypes.Catalog, error)
	regions func() []string
	// committed, if not nil, has prices of commitments.
	committed func(region string, years int) (instancetypes.Prices, error)
}

func all() []cloud {
	return []cloud{
		{"ec2", ec2.Catalog, ec2.Regions, nil},
		{"azure", azure.Catalog, azure.Regions, nil},
		{"gcp", gcp.Catalog, gcp.Regions, gcp.Committed},
	}
}

// Names returns the names of all catalogs.
func Names() (names []string) {
	for _, c := range all() {
		for _, region := range c.regions() {
			names = append(names, c.name+"/"+region)
		}
	}
	return names
}

// of splits a name at the cloud.
func of(name string) (c cloud, region string, ok bool) {
	for _, c := range all() {
		if region, ok := strings.CutPrefix(name, c.name+"/"); ok {
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

// Committed returns what machines of the catalog of a name cost that somebody has committed to
// buy for a term, such as "3y".
func Committed(name, term string) (p instancetypes.Prices, err error) {
	from, region, ok := of(name)
	if !ok || from.committed == nil {
		return p, fmt.Errorf("catalog %s has no prices of commitments: those of gcp have", name)
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
			names = append(names, c.name+"/"+region)
		}
	}
	return names
}

// Region returns the catalog and the region that a zone or region belongs to; nothing if none
// is embedded.
func Region(place string) (catalog, region string) {
	for _, name := range Names() {
		if _, region, _ := of(name); Belongs(place, region) {
			return name, region
		}
	}
	return "", ""
}

// Belongs reports whether a place is the region or one of its zones by its name: eu-west-1a,
// eastus-1, europe-west4-b, or a local zone such as us-west-2-lax-1a.
func Belongs(place, region string) bool {
	zone, ok := strings.CutPrefix(place, region)
	return ok && (zone == "" || zone[0] == '-' || len(zone) == 1 && 'a' <= zone[0] && zone[0] <= 'z')
}

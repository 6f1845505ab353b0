package scheduling

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

const (
	zoneLabel   = corev1.LabelTopologyZone
	regionLabel = corev1.LabelTopologyRegion
	betaZone    = corev1.LabelFailureDomainBetaZone
)

// What a volume's labels say about running nodes, as the plugin VolumeZone reads them.
func TestLabelsOfVolumesOnRunningNodes(t *testing.T) {
	for _, tt := range []struct {
		name       string
		key, value string
		node       map[string]string
		want       bool
	}{
		{"the zone", zoneLabel, "a", map[string]string{zoneLabel: "a"}, true},
		{"another zone", zoneLabel, "a", map[string]string{zoneLabel: "b"}, false},
		{"one of several zones", zoneLabel, "a__b", map[string]string{zoneLabel: "b"}, true},
		{"none of several zones", zoneLabel, "a__b", map[string]string{zoneLabel: "c"}, false},
		{"a node without any such label", zoneLabel, "a", map[string]string{"kubernetes.io/hostname": "n"}, true},
		{"a node with a region and no zone", zoneLabel, "a", map[string]string{regionLabel: "r"}, false},
		{"a region, of a node with a zone only", regionLabel, "r", map[string]string{zoneLabel: "a"}, false},
		{"the old key on both", betaZone, "a", map[string]string{betaZone: "a"}, true},
		{"the old key, of a node with the new one", betaZone, "a", map[string]string{zoneLabel: "a"}, true},
		{"the old key comes first", betaZone, "a", map[string]string{betaZone: "b", zoneLabel: "a"}, false},
		{"the new key, of a node with the old one", zoneLabel, "a", map[string]string{betaZone: "a"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := &volumeIndex{places: map[string]*place{}}
			v := volumeIn("v", nodeExpr("kubernetes.io/os", "DoesNotExist"))
			v.Labels = map[string]string{tt.key: tt.value, "app": "db"}
			var c claim
			x.readVolume(&c, v)
			require.Len(t, c.places, 2)
			assert.Equal(t, tt.want, c.usableOn("n", tt.node))
			group := &constraint{}
			(&podVolumes{places: c.places}).constrain(group)
			assert.Equal(t, tt.want, group.volumesMatch("n", tt.node))
			assert.NotContains(t, placesText(group), metadataName)
			assert.Contains(t, placesText(group), tt.key+" In ["+strings.ReplaceAll(tt.value, "__", " ")+"]")
		})
	}
}

// Of new machines the zone is known and has to be right; a region that nobody states is
// no obstacle, and no reason to tell machines apart.
func TestLabelsOfVolumesOnNewMachines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		labels map[string]string // of the volume
		stated string            // region of the catalog
		want   string            // zones
	}{
		{"the zone", map[string]string{zoneLabel: "b"}, "", "b"},
		{"the old key of the zone", map[string]string{betaZone: "b__c"}, "", "b c"},
		{"a region that nobody states", map[string]string{regionLabel: "r"}, "", "a b c"},
		{"the catalog's region", map[string]string{regionLabel: "r"}, "r", "a b c"},
		{"another region than the catalog's", map[string]string{regionLabel: "r"}, "s", ""},
		{"zone and region", map[string]string{zoneLabel: "c", regionLabel: "r"}, "", "c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it := &instancetypes.InstanceType{Name: "m", Labels: map[string]string{}, Capacity: quantities("cpu", "4", "memory", "8Gi", "pods", "10")}
			if tt.stated != "" {
				it.Labels[regionLabel] = tt.stated
			}
			for _, zone := range []string{"a", "b", "c"} {
				it.Offerings = append(it.Offerings, offerings.Offering{Zone: zone, CapacityType: offerings.OnDemand, Price: 1})
			}
			catalog, err := instancetypes.NewCatalog(it)
			require.NoError(t, err)
			v := volumeIn("v", nodeExpr(zoneLabel, "Exists"))
			v.Labels = tt.labels
			p := &Problem{
				Pods: []*corev1.Pod{claimed("a", "data")}, Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "v")},
				Volumes: []*corev1.PersistentVolume{v}, NodePools: []*NodePool{{ObjectMeta: named("default")}}, Catalog: catalog,
			}
			c := compile(p, &Policy{}, false)
			require.Len(t, c.templates, 1)
			var zones []string
			c.offers.admits(c.templates[0], c.classes.groups[0], false).Each(func(o int) { zones = append(zones, c.offers.offers[o].offering.Zone) })
			assert.Equal(t, tt.want, strings.Join(zones, " "))
		})
	}
}

package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// surroundings is a scenario with every word about volumes, namespaces and owners.
const surroundings = `classes
fast where=(zone in a b) where=(zone in c, rack in 1)
plain driver=efs immediate default=5
----

volumes
disk-1 where=(topology.kubernetes.io/zone in a) where=(topology.kubernetes.io/zone in b) class=fast
disk-2 driver=in-tree-ebs deleting
----

claims
data-1 class=fast volume=disk-1
data-2 ns=shop mode=rwop half-bound=disk-2 of-pod=web lost deleting
----

csi-nodes
n1 ebs=25 efs
----

namespaces
blog
shop label=(team=red)
----

services
web of=(app=web)
headless ns=shop
----

owners
replicaset/web of=(app=web, tier in a b)
statefulset/db ns=shop of=(app=db)
controller/old of=(app=old)
----

default-spread
zone skew=3 min=2 soft
host
----

pods
web spread=(zone) near=(zone of=(app=db) ns=(shop) ns-of=() same="zone" other=tenant) apart=(host weight=7) claim=data-1 ephemeral=(scratch class=fast mode=rwop) label=(app=web) owner=replicaset/web
----

solve
----
`

// read runs the commands of a scenario but for solve.
func read(t *testing.T, text string) scheduling.Problem {
	t.Helper()
	script, err := parseScript(text)
	require.NoError(t, err)
	s := newSession()
	for _, part := range script.parts {
		if b := part.block; b != nil && b.lines[0] != "solve" {
			out := s.run(t.Context(), b)
			require.NotContains(t, out, "error", strings.Join(b.lines, "\n"))
		}
	}
	return s.problem
}

func TestVolumeBuilders(t *testing.T) {
	p := read(t, surroundings)
	zone := corev1.LabelTopologyZone
	want := scheduling.Problem{
		StorageClasses: []*storagev1.StorageClass{
			StorageClass("fast", Where(In(zone, "a", "b")), Where(In(zone, "c"), In("rack", "1"))),
			StorageClass("plain", Driver("efs.csi.aws.com"), Immediate(), DefaultClass(5)),
		},
		Volumes: []*corev1.PersistentVolume{
			Volume("disk-1", Where(In(zone, "a")), Where(In(zone, "b")), OfClass("fast")),
			Volume("disk-2", Driver("kubernetes.io/aws-ebs"), Deleting()),
		},
		Claims: []*corev1.PersistentVolumeClaim{
			Claim("data-1", OfClass("fast"), BoundTo("disk-1")),
			Claim("data-2", Namespace("shop"), HalfBoundTo("disk-2"), Access(corev1.ReadWriteOncePod), OwnedByPod("web"), Lost(), Deleting()),
		},
		CSINodes:   []*storagev1.CSINode{CSINode("n1", Count("ebs.csi.aws.com", 25), Count("efs.csi.aws.com", -1))},
		Namespaces: []*corev1.Namespace{NamespaceObject("blog", nil), NamespaceObject("shop", map[string]string{"team": "red"})},
		Services:   []*corev1.Service{Service("default", "web", map[string]string{"app": "web"}), Service("shop", "headless", nil)},
		DefaultSpread: []corev1.TopologySpreadConstraint{
			DefaultSpread(zone, Skew(3), MinDomains(2), Soft()), DefaultSpread(corev1.LabelHostname),
		},
		Pods: []*corev1.Pod{Pod("web", Label("app", "web"), Spread(zone),
			Near(zone, Of("app", "db"), InNamespaces("shop"), InNamespacesOf(), Same("zone"), Other("tenant")),
			Apart(corev1.LabelHostname, Weight(7)), UseClaim("data-1"),
			Ephemeral("scratch", OfClass("fast"), Access(corev1.ReadWriteOncePod)), OwnedBy("ReplicaSet", "web"))},
	}
	owners := p.Owners
	p.Owners, want.Now = scheduling.Owners{}, p.Now
	assert.Equal(t, YAML(want), YAML(p))
	p.Owners = owners
	require.Len(t, p.Owners.ReplicaSets, 1)
	assert.Len(t, p.Owners.ReplicaSets[0].Spec.Selector.MatchExpressions, 1)
	assert.Equal(t, "shop", p.Owners.StatefulSets[0].Namespace)
	assert.Equal(t, map[string]string{"app": "old"}, p.Owners.ReplicationControllers[0].Spec.Selector)
}

func TestNumberedClaims(t *testing.T) {
	p := read(t, "volumes\n3 x disk where=(zone in a)\n----\n\nclaims\n3 x data volume=disk-#\n----\n\npods\n3 x db claim=data-#\n----\n")
	require.Len(t, p.Claims, 3)
	assert.Equal(t, "data-2", p.Claims[1].Name)
	assert.Equal(t, "disk-2", p.Claims[1].Spec.VolumeName)
	assert.Equal(t, "disk-3", p.Volumes[2].Name)
	assert.Equal(t, "data-3", p.Pods[2].Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
}

func TestCommandFaults(t *testing.T) {
	for text, want := range map[string]string{
		"claims x\n----\n":                     `error: unexpected word "x"`,
		"claims\ndata mode=some\n----\n":       "error: data: mode=some: want rwo, rwx, rox or rwop",
		"claims\n0 x data\n----\n":             `error: 0: "0": want a number`,
		"claims\nclass=x\n----\n":              "error: class=x: want a name",
		"volumes\ndisk zone=a\n----\n":         `error: disk: unexpected word "zone=a"`,
		"classes\nfast default=soon\n----\n":   "error: fast: default=soon: want a minute",
		"csi-nodes\nn1 ebs=many\n----\n":       "error: n1: ebs=many: want a number of volumes",
		"namespaces\nshop team=red\n----\n":    `error: shop: unexpected word "team=red"`,
		"services\nweb select=(a=b)\n----\n":   `error: web: unexpected word "select=a=b"`,
		"owners\nweb\n----\n":                  `error: web: "web": want KIND/NAME`,
		"owners\nnode/n1\n----\n":              `error: node/n1: kind "node" is neither replicaset nor statefulset nor controller`,
		"default-spread\nskew=1\n----\n":       "error: skew=1: want a name",
		"default-spread\nzone near=1\n----\n":  `error: zone: unexpected word "near=1"`,
		"solve preference-price=cheap\n----\n": `error: price "cheap": want a decimal number of USD per hour, like 0.0412`,
	} {
		script, err := parseScript(text)
		require.NoError(t, err)
		got := newSession().run(t.Context(), script.parts[0].block)
		assert.Equal(t, want, got, text)
	}
}

// Claims of ephemeral volumes without a class get the newest default class, of equally new ones
// the first by name.
func TestEphemeralClaims(t *testing.T) {
	p := scheduling.Problem{Pods: []*corev1.Pod{Pod("a", Ephemeral("tmp"))}}
	class := func(classes ...*storagev1.StorageClass) *string {
		p.StorageClasses = classes
		return ephemeralClaims(&p)[0].Spec.StorageClassName
	}
	name := "also-newer"
	assert.Equal(t, &name, class(StorageClass("older", DefaultClass(1)), StorageClass("newer", DefaultClass(2)), StorageClass("also-newer", DefaultClass(2)), StorageClass("no")))
	assert.Nil(t, class(StorageClass("no")))
}

package validate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

func TestValidateVolumes(t *testing.T) {
	claim := func(modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
		c := waitingClaim("data", "waits")
		c.Spec.AccessModes = modes
		return c
	}
	topology := func(key string, values ...string) *storagev1.StorageClass {
		return waitingClass("waits", corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: key, Values: values}}})
	}
	drivers := func(d ...storagev1.CSINodeDriver) *scheduling.Problem {
		return &scheduling.Problem{CSINodes: []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: d}}}}
	}
	count := func(n int32) *storagev1.VolumeNodeResources { return &storagev1.VolumeNodeResources{Count: &n} }
	elsewhere := claim()
	elsewhere.Namespace = "shop"
	spelt := claim()
	spelt.Namespace = "default"
	odd := storagev1.VolumeBindingMode("Later")
	for name, tc := range map[string]struct {
		problem *scheduling.Problem
		want    []string
	}{
		"sound": {&scheduling.Problem{
			Claims:         []*corev1.PersistentVolumeClaim{claim(corev1.ReadWriteOnce, corev1.ReadOnlyMany), elsewhere},
			Volumes:        []*corev1.PersistentVolume{volumeIn("v", nodeExpr("zone", "In", "a")), {ObjectMeta: metav1.ObjectMeta{Name: "w"}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{}}}},
			StorageClasses: []*storagev1.StorageClass{topology("zone", "a"), {ObjectMeta: metav1.ObjectMeta{Name: "old"}}},
			CSINodes:       drivers(storagev1.CSINodeDriver{Name: podspec.EbsDriver}, storagev1.CSINodeDriver{Name: podspec.GceDriver, Allocatable: count(0)}).CSINodes,
		}, nil},
		"nil": {&scheduling.Problem{
			Claims: []*corev1.PersistentVolumeClaim{nil}, Volumes: []*corev1.PersistentVolume{nil},
			StorageClasses: []*storagev1.StorageClass{nil}, CSINodes: []*storagev1.CSINode{nil},
		}, []string{"claims[0]: is nil", "csinodes[0]: is nil", "storageclasses[0]: is nil", "volumes[0]: is nil"}},
		"no name": {&scheduling.Problem{
			Claims: []*corev1.PersistentVolumeClaim{{}}, Volumes: []*corev1.PersistentVolume{{}},
			StorageClasses: []*storagev1.StorageClass{{}}, CSINodes: []*storagev1.CSINode{{}},
		}, []string{"claims[0].metadata.name: is missing", "csinodes[0].metadata.name: is missing", "storageclasses[0].metadata.name: is missing", "volumes[0].metadata.name: is missing"}},
		"twice": {&scheduling.Problem{
			Claims:         []*corev1.PersistentVolumeClaim{claim(), spelt, elsewhere},
			Volumes:        []*corev1.PersistentVolume{volumeIn("v", nodeExpr("zone", "Exists")), volumeIn("v", nodeExpr("zone", "Exists"))},
			StorageClasses: []*storagev1.StorageClass{waitingClass("waits"), waitingClass("waits")},
			CSINodes:       append(drivers().CSINodes, drivers().CSINodes...),
		}, []string{
			"claims[default/data]: is there more than once", "csinodes[n]: is there more than once",
			"storageclasses[waits]: is there more than once", "volumes[v]: is there more than once",
		}},
		"access modes": {&scheduling.Problem{Claims: []*corev1.PersistentVolumeClaim{claim(corev1.ReadWriteOncePod, "ReadNever")}}, []string{
			`claims[default/data].spec.accessModes[0]: must stand alone: "ReadWriteOncePod"`,
			`claims[default/data].spec.accessModes[1]: must be one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod: "ReadNever"`,
		}},
		"node affinity": {&scheduling.Problem{Volumes: []*corev1.PersistentVolume{volumeIn("v"), volumeIn("w", nodeExpr("zone", "In"), nodeExpr("zone", "Near", "a"))}}, []string{
			"volumes[v].spec." + VolumeTerms + ": needs at least one term",
			"volumes[w].spec." + VolumeTerms + `[0].matchExpressions[0].values: label "zone": operator In needs at least one value`,
			"volumes[w].spec." + VolumeTerms + `[1].matchExpressions[0].operator: label "zone": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Near"`,
		}},
		"binding mode": {&scheduling.Problem{StorageClasses: []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "c"}, VolumeBindingMode: &odd}}}, []string{
			`storageclasses[c].volumeBindingMode: must be Immediate or WaitForFirstConsumer: "Later"`,
		}},
		"topologies": {&scheduling.Problem{StorageClasses: []*storagev1.StorageClass{topology("-", "a", "b b"), waitingClass("empty"), {
			ObjectMeta: metav1.ObjectMeta{Name: "none"}, AllowedTopologies: topology("zone").AllowedTopologies,
		}}}, []string{
			`storageclasses[none].allowedTopologies[0].matchLabelExpressions[0].values: needs at least one value`,
			`storageclasses[waits].allowedTopologies[0].matchLabelExpressions[0].key: ` + NotALabelKey + `: "-"`,
			`storageclasses[waits].allowedTopologies[0].matchLabelExpressions[0].values[1]: ` + NotALabelValue + `: "b b"`,
		}},
		"drivers": {drivers(storagev1.CSINodeDriver{}, storagev1.CSINodeDriver{Name: podspec.EbsDriver, Allocatable: count(-1)}, storagev1.CSINodeDriver{Name: podspec.EbsDriver}), []string{
			`csinodes[n].spec.drivers[0].name: is missing`,
			`csinodes[n].spec.drivers[1].allocatable.count: is negative: "-1"`,
			`csinodes[n].spec.drivers[2].name: is there more than once: "ebs.csi.aws.com"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := problemFaults(tc.problem)
			if tc.want == nil {
				assert.NoError(t, err)
				return
			}
			assert.Equal(t, tc.want, faultsOf(t, err))
		})
	}
}

const ebsDriver = "ebs.csi.aws.com"

func waitingClaim(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}
}

func waitingClass(name string, topologies ...corev1.TopologySelectorTerm) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode, Provisioner: ebsDriver, AllowedTopologies: topologies}
}

// volumeIn is a volume with one term of node affinity for each expression.
func volumeIn(name string, terms ...corev1.NodeSelectorRequirement) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: ebsDriver, VolumeHandle: "handle-" + name}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	for _, e := range terms {
		v.Spec.NodeAffinity.Required.NodeSelectorTerms = append(v.Spec.NodeAffinity.Required.NodeSelectorTerms, nodeExpressions(e))
	}
	return v
}

package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	drivers := func(d ...storagev1.CSINodeDriver) *Problem {
		return &Problem{CSINodes: []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: d}}}}
	}
	count := func(n int32) *storagev1.VolumeNodeResources { return &storagev1.VolumeNodeResources{Count: &n} }
	elsewhere := claim()
	elsewhere.Namespace = "shop"
	spelt := claim()
	spelt.Namespace = "default"
	odd := storagev1.VolumeBindingMode("Later")
	for name, tc := range map[string]struct {
		problem *Problem
		want    []string
	}{
		"sound": {&Problem{
			Claims:         []*corev1.PersistentVolumeClaim{claim(corev1.ReadWriteOnce, corev1.ReadOnlyMany), elsewhere},
			Volumes:        []*corev1.PersistentVolume{volumeIn("v", nodeExpr("zone", "In", "a")), {ObjectMeta: metav1.ObjectMeta{Name: "w"}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{}}}},
			StorageClasses: []*storagev1.StorageClass{topology("zone", "a"), {ObjectMeta: metav1.ObjectMeta{Name: "old"}}},
			CSINodes:       drivers(storagev1.CSINodeDriver{Name: ebsDriver}, storagev1.CSINodeDriver{Name: gceDriver, Allocatable: count(0)}).CSINodes,
		}, nil},
		"nil": {&Problem{
			Claims: []*corev1.PersistentVolumeClaim{nil}, Volumes: []*corev1.PersistentVolume{nil},
			StorageClasses: []*storagev1.StorageClass{nil}, CSINodes: []*storagev1.CSINode{nil},
		}, []string{"claims[0]: is nil", "csinodes[0]: is nil", "storageclasses[0]: is nil", "volumes[0]: is nil"}},
		"no name": {&Problem{
			Claims: []*corev1.PersistentVolumeClaim{{}}, Volumes: []*corev1.PersistentVolume{{}},
			StorageClasses: []*storagev1.StorageClass{{}}, CSINodes: []*storagev1.CSINode{{}},
		}, []string{"claims[0].metadata.name: is missing", "csinodes[0].metadata.name: is missing", "storageclasses[0].metadata.name: is missing", "volumes[0].metadata.name: is missing"}},
		"twice": {&Problem{
			Claims:         []*corev1.PersistentVolumeClaim{claim(), spelt, elsewhere},
			Volumes:        []*corev1.PersistentVolume{volumeIn("v", nodeExpr("zone", "Exists")), volumeIn("v", nodeExpr("zone", "Exists"))},
			StorageClasses: []*storagev1.StorageClass{waitingClass("waits"), waitingClass("waits")},
			CSINodes:       append(drivers().CSINodes, drivers().CSINodes...),
		}, []string{
			"claims[default/data]: is there more than once", "csinodes[n]: is there more than once",
			"storageclasses[waits]: is there more than once", "volumes[v]: is there more than once",
		}},
		"access modes": {&Problem{Claims: []*corev1.PersistentVolumeClaim{claim(corev1.ReadWriteOncePod, "ReadNever")}}, []string{
			`claims[default/data].spec.accessModes[0]: must stand alone: "ReadWriteOncePod"`,
			`claims[default/data].spec.accessModes[1]: must be one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod: "ReadNever"`,
		}},
		"node affinity": {&Problem{Volumes: []*corev1.PersistentVolume{volumeIn("v"), volumeIn("w", nodeExpr("zone", "In"), nodeExpr("zone", "Near", "a"))}}, []string{
			"volumes[v].spec." + volumeTerms + ": needs at least one term",
			"volumes[w].spec." + volumeTerms + `[0].matchExpressions[0].values: label "zone": operator In needs at least one value`,
			"volumes[w].spec." + volumeTerms + `[1].matchExpressions[0].operator: label "zone": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Near"`,
		}},
		"binding mode": {&Problem{StorageClasses: []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "c"}, VolumeBindingMode: &odd}}}, []string{
			`storageclasses[c].volumeBindingMode: must be Immediate or WaitForFirstConsumer: "Later"`,
		}},
		"topologies": {&Problem{StorageClasses: []*storagev1.StorageClass{topology("-", "a", "b b"), waitingClass("empty"), {
			ObjectMeta: metav1.ObjectMeta{Name: "none"}, AllowedTopologies: topology("zone").AllowedTopologies,
		}}}, []string{
			`storageclasses[none].allowedTopologies[0].matchLabelExpressions[0].values: needs at least one value`,
			`storageclasses[waits].allowedTopologies[0].matchLabelExpressions[0].key: ` + notALabelKey + `: "-"`,
			`storageclasses[waits].allowedTopologies[0].matchLabelExpressions[0].values[1]: ` + notALabelValue + `: "b b"`,
		}},
		"drivers": {drivers(storagev1.CSINodeDriver{}, storagev1.CSINodeDriver{Name: ebsDriver, Allocatable: count(-1)}, storagev1.CSINodeDriver{Name: ebsDriver}), []string{
			`csinodes[n].spec.drivers[0].name: is missing`,
			`csinodes[n].spec.drivers[1].allocatable.count: is negative: "-1"`,
			`csinodes[n].spec.drivers[2].name: is there more than once: "ebs.csi.aws.com"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.problem.Validate()
			if tc.want == nil {
				assert.NoError(t, err)
				return
			}
			assert.Equal(t, tc.want, faultsOf(t, err))
		})
	}
}

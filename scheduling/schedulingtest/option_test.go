package schedulingtest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// The compiler refuses options of another kind of objects: the result of each function is of no
// wider type than its description says.
func TestOptionsOfOneKind(t *testing.T) {
	result := func(function any) reflect.Type { return reflect.TypeOf(function).Out(0) }
	for name, tc := range map[string]struct {
		of        any
		fits, not reflect.Type
	}{
		"a cordoned node is no pod":               {Cordoned, reflect.TypeFor[NodeOption](), reflect.TypeFor[PodOption]()},
		"requests of a pod are no capacity":       {Requests, reflect.TypeFor[PodOption](), reflect.TypeFor[TypeOption]()},
		"capacity of a type is no allocatable":    {Capacity, reflect.TypeFor[TypeOption](), reflect.TypeFor[NodeOption]()},
		"a limit of a NodePool is no limit":       {Limit, reflect.TypeFor[NodePoolOption](), reflect.TypeFor[PodOption]()},
		"skew of a spread is no affinity":         {Skew, reflect.TypeFor[SpreadOption](), reflect.TypeFor[AffinityOption]()},
		"namespaces of an affinity are no spread": {InNamespaces, reflect.TypeFor[AffinityOption](), reflect.TypeFor[SpreadOption]()},
		"pods of a term may be of either":         {Of, reflect.TypeFor[TermOption](), reflect.TypeFor[PodOption]()},
		"a lost claim is no volume":               {Lost, reflect.TypeFor[ClaimOption](), reflect.TypeFor[VolumeOption]()},
		"an immediate class is no claim":          {Immediate, reflect.TypeFor[ClassOption](), reflect.TypeFor[ClaimOption]()},
		"labels are of nodes, not of volumes":     {Label, reflect.TypeFor[NodeOption](), reflect.TypeFor[VolumeOption]()},
		"deleting is a state of claims":           {Deleting, reflect.TypeFor[ClaimOption](), reflect.TypeFor[NodePoolOption]()},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, result(tc.of).Implements(tc.fits))
			require.False(t, result(tc.of).Implements(tc.not))
		})
	}
}

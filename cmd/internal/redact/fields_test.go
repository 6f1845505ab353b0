package redact

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// What plans read of the objects of Karpenter and its providers is kept; what is only warned of
// is not.
func TestFieldsOfOurTypesAreKnown(t *testing.T) {
	known, seen := fields(), map[reflect.Type]bool{}
	var missing []string
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] || !strings.Contains(of.PkgPath(), "plimsoll") {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && known[name] == unread {
				missing = append(missing, name)
			}
			walk(f.Type)
		}
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[scheduling.NodePool](), reflect.TypeFor[manifest.NodeClaim](), reflect.TypeFor[instancetypes.NodeOverlay](),
		reflect.TypeFor[scheduling.SpotPolicy](),
		reflect.TypeFor[ec2.NodeClass](), reflect.TypeFor[azure.NodeClass](), reflect.TypeFor[gcp.NodeClass](),
	} {
		walk(of)
	}
	slices.Sort(missing)
	require.Equal(t, []string{
		"artifactStreaming", "associatePublicIPAddress", "autoGPUTaint", "capacityReservationSelectorTerms", "confidentialInstanceType", "cpuOptions",
		"encryptionAtHost", "localDNS", "networkInterfaces", "placementGroupSelector", "security", "userData",
	}, missing)
}

package instancetypes_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func quantity(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }

func TestENIPods(t *testing.T) {
	for _, tc := range []struct {
		name                      string
		enis, addresses, reserved int64
		want                      int64
	}{ // A18
		{name: "t3.large", enis: 3, addresses: 12, want: 35},
		{name: "t3.large, one interface reserved", enis: 3, addresses: 12, reserved: 1, want: 24},
		{name: "m6idn.32xlarge", enis: 8, addresses: 50, want: 394},
		{name: "m6idn.32xlarge, one EFA-only", enis: 8, addresses: 50, reserved: 1, want: 345},
		{name: "all reserved", enis: 3, addresses: 12, reserved: 3, want: 0},
		{name: "more than all reserved", enis: 3, addresses: 12, reserved: 9, want: 0},
		{name: "unknown limits", want: 0},
		{name: "negative reservation", enis: 3, addresses: 12, reserved: -1, want: 35},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, instancetypes.ENIPods(tc.enis, tc.addresses, tc.reserved))
		})
	}
}

func TestMaxPods(t *testing.T) {
	for _, tc := range []struct {
		name                                  string
		configured, byENI, podsPerCore, cores int64
		want                                  int64
	}{ // A19
		{name: "configured wins", configured: 20, byENI: 35, cores: 2, want: 20},
		{name: "by interfaces", byENI: 35, cores: 2, want: 35},
		{name: "neither", cores: 2, want: 110},
		{name: "per core, lower", byENI: 35, podsPerCore: 4, cores: 2, want: 8},
		{name: "per core, higher", byENI: 35, podsPerCore: 40, cores: 2, want: 35},
		{name: "per core under a configured maximum", configured: 20, podsPerCore: 4, cores: 2, want: 8},
		{name: "per core, absurd", byENI: 35, podsPerCore: math.MaxInt64, cores: 96, want: 35},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, instancetypes.MaxPods(tc.configured, tc.byENI, tc.podsPerCore, tc.cores))
		})
	}
}

func TestEphemeralStorage(t *testing.T) { // A24
	assert.Equal(t, 20*gib, instancetypes.EphemeralStorage(0, 0))
	assert.Equal(t, 80*gib, instancetypes.EphemeralStorage(0, 80*gib))
	assert.Equal(t, int64(7600_000_000_000), instancetypes.EphemeralStorage(7600, 80*gib))
}

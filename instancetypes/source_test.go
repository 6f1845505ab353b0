package instancetypes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// fixed is a source that gives every pool the same types.
func fixed(types ...*instancetypes.InstanceType) instancetypes.Source {
	return instancetypes.SourceFunc(func(context.Context, string) ([]*instancetypes.InstanceType, error) { return types, nil })
}

func failing(err error) instancetypes.Source {
	return instancetypes.SourceFunc(func(context.Context, string) ([]*instancetypes.InstanceType, error) { return nil, err })
}

func TestLoad(t *testing.T) {
	var asked string
	src := instancetypes.SourceFunc(func(_ context.Context, pool string) ([]*instancetypes.InstanceType, error) {
		asked = pool
		return []*instancetypes.InstanceType{machine("m", "cpu=1 memory=1Gi", "spot@a=0.1")}, nil
	})
	c, err := instancetypes.Load(t.Context(), src, "batch")
	require.NoError(t, err)
	assert.Equal(t, "batch", asked)
	assert.Equal(t, []string{"m: spot@a=0.1"}, listing(c))
}

func TestLoadOfACatalogIsThatCatalog(t *testing.T) {
	c := catalog(t, machine("m", "cpu=1 memory=1Gi", "")).WithProvenance(instancetypes.Provenance{Source: "here"})
	got, err := instancetypes.Load(t.Context(), c, "")
	require.NoError(t, err)
	assert.Same(t, c, got)
}

func TestLoadErrors(t *testing.T) {
	down := errors.New("API is down")
	for _, tc := range []struct {
		name   string
		cancel bool
		src    instancetypes.Source
		want   string
		is     error
	}{
		{"source fails", false, failing(down), `loading instance types for NodePool "batch": API is down`, down},
		{"no source", false, nil, `loading instance types for NodePool "batch": no source`, nil},
		{"no function", false, instancetypes.SourceFunc(nil), `loading instance types for NodePool "batch": no source`, nil},
		{"invalid types", false, fixed(machine("m", "cpu=1", "")), "instance type m: capacity.memory: is missing", nil},
		{"cancelled", true, fixed(), "context canceled", context.Canceled},
		{"one of several", false, instancetypes.Sources{fixed(), failing(down), failing(down)}, "source 1: API is down\nsource 2: API is down", down},
		{"one of several is nil", false, instancetypes.Sources{fixed(), nil}, "source 1: no source", nil},
		{"cancelled between sources", true, instancetypes.Sources{fixed()}, "context canceled", context.Canceled},
		{"a name twice in one source", false, instancetypes.Sources{fixed(machine("m", "cpu=1 memory=1Gi", ""), machine("m", "cpu=1 memory=1Gi", ""))}, "is the name of two types", nil},
		{"a type that is nil", false, instancetypes.Sources{fixed(nil)}, "types[0]: is nil", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel {
				cancel()
			}
			c, err := instancetypes.Load(ctx, tc.src, "batch")
			require.ErrorContains(t, err, tc.want)
			assert.Nil(t, c)
			if tc.is != nil {
				assert.ErrorIs(t, err, tc.is)
			}
		})
	}
}

func TestSources(t *testing.T) {
	embedded := catalog(t, machine("m", "cpu=1 memory=1Gi", "spot@a=0.1"), machine("n", "cpu=2 memory=1Gi", "spot@a=0.2"))
	correction := fixed(machine("m", "cpu=1 memory=1Gi", "spot@a=0.05"), machine("own", "cpu=4 memory=1Gi", "on-demand@rack=0"))
	for _, tc := range []struct {
		name    string
		sources instancetypes.Sources
		want    []string
	}{
		{"none", nil, []string{}},
		{"one", instancetypes.Sources{embedded}, []string{"m: spot@a=0.1", "n: spot@a=0.2"}},
		{"the first is believed", instancetypes.Sources{correction, embedded}, []string{"m: spot@a=0.05", "n: spot@a=0.2", "own: on-demand@rack=0"}},
		{"the other order", instancetypes.Sources{embedded, correction}, []string{"m: spot@a=0.1", "n: spot@a=0.2", "own: on-demand@rack=0"}},
		{"nested", instancetypes.Sources{instancetypes.Sources{correction}, instancetypes.Sources{embedded}}, []string{"m: spot@a=0.05", "n: spot@a=0.2", "own: on-demand@rack=0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.Load(t.Context(), tc.sources, "")
			require.NoError(t, err)
			assert.Equal(t, tc.want, listing(c))
		})
	}
	assert.Equal(t, []string{"m: spot@a=0.1", "n: spot@a=0.2"}, listing(embedded), "sources are not changed")
}

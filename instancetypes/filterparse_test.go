package instancetypes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func TestParseFilter(t *testing.T) {
	c := park(t)
	all := strings.Join(listing(c), "\n")
	for _, tc := range []struct {
		expr string
		want string // lines, in order of name
	}{
		{"", all},
		{"  ", all},
		{"name=*", all},
		// names
		{"name=m7i.*", "m7i.large: on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"},
		{"name==m7i.large", "m7i.large: on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"},
		{"name in (kwok-1, rack.*)", "kwok-1: spot@z=0.01\nrack.big:"},
		{"name notin (m* c* r* p*)", "kwok-1: spot@z=0.01"},
		{"name!=*.*", "kwok-1: spot@z=0.01"},
		{"instance-type=kwok-1", "kwok-1: spot@z=0.01"},
		// labels by their end
		{"arch=arm64", "m7g.large: on-demand@a=0.0816"},
		{"arch = arm64 , zone = a", "m7g.large: on-demand@a=0.0816"},
		{"category in (c r)", "c10i.xlarge: spot@b=0.07\nr6i.large: on-demand@a=0.126 reserved@a/cr-1=0x2 reserved@b/cr-2=0"},
		{"category in(c,r),capacity-type=spot", "c10i.xlarge: spot@b=0.07"},
		{"instance-category=c", "c10i.xlarge: spot@b=0.07"},
		{"category!=m,!gpu,zone=a,price>0", "r6i.large: on-demand@a=0.126"},
		{"!category", "kwok-1: spot@z=0.01\nrack.big:"},
		{"category,zone=b,price<1", "c10i.xlarge: spot@b=0.07\nm7i.large: spot@b=0.05\nr6i.large: reserved@b/cr-2=0"},
		{"generation>=7,arch=amd64", "c10i.xlarge: spot@b=0.07\nm7i.large: on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"},
		{"generation>7", "c10i.xlarge: spot@b=0.07"},
		{"generation<5", "p4d.24xlarge: on-demand@a=21.96 spot@b=9.9"},
		{"generation<=6,generation>4", "r6i.large: on-demand@a=0.126 reserved@a/cr-1=0x2 reserved@b/cr-2=0"},
		{"family in (kwok p4d)", "kwok-1: spot@z=0.01\np4d.24xlarge: on-demand@a=21.96 spot@b=9.9"}, // two providers' labels
		{"gpu-name=a1*", "p4d.24xlarge: on-demand@a=21.96 spot@b=9.9"},
		{"zone-id=use1-az1", "r6i.large: on-demand@a=0.126"},
		{"capacity-reservation-id=cr-1", "r6i.large: reserved@a/cr-1=0x2"},
		{"reservation-id", "r6i.large: reserved@a/cr-1=0x2 reserved@b/cr-2=0"},
		// labels by their key
		{"karpenter.k8s.aws/instance-category=c", "c10i.xlarge: spot@b=0.07"},
		{"beta.kubernetes.io/arch=arm64", "m7g.large: on-demand@a=0.0816"},
		{"label:karpenter.k8s.aws/instance-team", "kwok-1: spot@z=0.01\nr6i.large: on-demand@a=0.126 reserved@a/cr-1=0x2 reserved@b/cr-2=0"},
		{"label:nobody", ""},
		{"!label:nobody,name=c10*", "c10i.xlarge: spot@b=0.07"},
		{"label:nobody!=x,name=c10*", "c10i.xlarge: spot@b=0.07"},
		{"label:nobody>1", ""},
		// offerings
		{"capacity-type=reserved,available", "r6i.large: reserved@a/cr-1=0x2"},
		{"!available", "p4d.24xlarge: spot@b=9.9\nr6i.large: reserved@b/cr-2=0\nrack.big:"},
		{"capacity-type=*-demand,price<=0.1", "m7g.large: on-demand@a=0.0816"},
		{"price=0.0412", "m7i.large: spot@a=0.0412"},
		{"price in (0.0412 0.05)", "m7i.large: spot@a=0.0412 spot@b=0.05"},
		{"price>=9.9,price!=21.96", "p4d.24xlarge: spot@b=9.9"},
		{"zone=?,zone!=a,zone!=b", "kwok-1: spot@z=0.01"},
		// capacity
		{"cpu<1", "kwok-1: spot@z=0.01"},
		{"cpu=500m", "kwok-1: spot@z=0.01"},
		{"cpu>=64", "p4d.24xlarge: on-demand@a=21.96 spot@b=9.9\nrack.big:"},
		{"cpu in (4 64)", "c10i.xlarge: spot@b=0.07\nrack.big:"},
		{"cpu notin (4 64 2 500m)", "p4d.24xlarge: on-demand@a=21.96 spot@b=9.9"},
		{"memory>8Gi,memory<=16384Mi", "r6i.large: on-demand@a=0.126 reserved@a/cr-1=0x2 reserved@b/cr-2=0"},
		{"pods=58", "c10i.xlarge: spot@b=0.07"},
		{"!pods", "kwok-1: spot@z=0.01\nrack.big:"},
		{"gpu", "p4d.24xlarge: on-demand@a=21.96 spot@b=9.9"},
		{"gpu=8", "p4d.24xlarge: on-demand@a=21.96"}, // the spot offering overrides it
		{"capacity:nvidia.com/gpu=4", "p4d.24xlarge: spot@b=9.9"},
		{"!gpu,cpu>=64", "rack.big:"},
		{"ephemeral-storage>0", ""},
	} {
		t.Run(tc.expr, func(t *testing.T) {
			f, err := instancetypes.ParseFilter(tc.expr)
			require.NoError(t, err)
			assert.Equal(t, tc.want, strings.Join(listing(c.Filter(f)), "\n"))
		})
	}
}

func TestParseFilterErrors(t *testing.T) {
	for _, tc := range []struct {
		expr string
		want []string // one for each fault
	}{
		{",", []string{"term 1 \"\" is empty", "term 2 \"\" is empty"}},
		{"arch=amd64,", []string{"term 2 \"\" is empty"}},
		{"=amd64", []string{"does not start with a key"}},
		{"arch=", []string{"has no value after ="}},
		{"arch amd64", []string{`has "amd64" where =, !=, <, <=, >, >=, in (…) or notin (…) was expected`}},
		{"arch=amd64 arm64", []string{`has "amd64 arm64" where one value was expected`}},
		{"arch in amd64", []string{`has "amd64" where a list like (a b c) was expected`}},
		{"arch in (amd64", []string{`where a list like (a b c) was expected`}},
		{"arch in ()", []string{"has an empty list"}},
		{"arch in ((a))", []string{"where a list like"}},
		{"!arch=amd64", []string{"cannot have both ! and a comparison"}},
		{"generaton>=5", []string{`has an unknown key "generaton" (did you mean generation?); write label:generaton for a label of exactly that name`}},
		{"zzzzzzzz=1", []string{`has an unknown key "zzzzzzzz"; write label:`}},
		{"count=1", []string{`has an ambiguous key "count", which may be any of eks.amazonaws.com/instance-accelerator-count, eks.amazonaws.com/instance-gpu-count, karpenter.azure.com/sku-gpu-count, karpenter.k8s.aws/instance-accelerator-count, karpenter.k8s.aws/instance-gpu-count`}},
		{"manufacturer=nvidia", []string{"ambiguous key"}},
		{"label:=1", []string{"has no key after the prefix label"}},
		{"generation>=x", []string{"needs a whole number after >="}},
		{"generation>5.5", []string{"needs a whole number after >"}},
		{"capacity-type=ondemand", []string{"did you mean on-demand?"}},
		{"capacity-type in (spot CHEAP)", []string{`has an unknown capacity type "CHEAP"`}},
		{"price<-1", []string{"has a bad price"}},
		{"price=cheap", []string{"has a bad price"}},
		{"price", []string{"needs =, !=, in (…) or notin (…) after price"}},
		{"name>m", []string{"needs =, !=, in (…) or notin (…) after name"}},
		{"name", []string{"needs =, !=, in (…) or notin (…) after name"}},
		{"cpu=many", []string{`has "many", which is not a quantity`}},
		{"cpu>1e999999999", []string{"is too long for a quantity"}},
		{"memory>=16", []string{"needs a unit after 16, such as 16Gi or 16Mi"}},
		{"capacity:memory>=16", []string{"needs a unit"}},
		{"available=true", []string{"compares available, which is either so (available) or not (!available)"}},
		{"arch=amd64,foo=1,price<cheap,cpu=2", []string{`term 2 "foo=1"`, `term 3 "price<cheap"`}},
	} {
		t.Run(tc.expr, func(t *testing.T) {
			f, err := instancetypes.ParseFilter(tc.expr)
			require.Error(t, err)
			assert.Nil(t, f)
			got := strings.Split(err.Error(), "\n")
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
				assert.True(t, strings.HasPrefix(got[i], "filter: term "), got[i])
			}
		})
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, expr := range []string{
		"", "arch=amd64,category in (c m r),generation>=5,capacity-type=on-demand,zone=us-east-1a,name=m7i.*",
		"!gpu", "available", "price<0.1", "memory>=16Gi", "label:a/b=c", "a in (", "((", "name=***?", "cpu>1e99", "\x00=\xff",
	} {
		f.Add(expr)
	}
	c := park(f)
	f.Fuzz(func(t *testing.T, expr string) {
		keep, err := instancetypes.ParseFilter(expr)
		if (err == nil) != (keep != nil) {
			t.Fatalf("filter %t, error %v", keep != nil, err)
		}
		if err != nil {
			return
		}
		kept := c.Filter(keep)
		for _, name := range kept.Names() {
			if !slices.Contains(c.Names(), name) {
				t.Fatalf("%q made up %s", expr, name)
			}
		}
	})
}

package scheduling

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// CatalogOf is the catalog that a pool buys from.
func (p *Problem) CatalogOf(pool string) *instancetypes.Catalog {
	if c, ok := p.PoolCatalogs[pool]; ok {
		return c
	}
	return p.Catalog
}

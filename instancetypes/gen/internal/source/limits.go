package source

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"strconv"
)

// Limit is what a machine's network admits.
type Limit struct {
	// Interfaces counts the network interfaces of the default network card.
	Interfaces int64
	// Addresses counts the IPv4 addresses of an interface.
	Addresses int64
	// BranchInterfaces counts the interfaces for single pods; 0 if there are none.
	BranchInterfaces int64
	// Hypervisor is nitro, xen or, on bare metal, empty.
	Hypervisor string
}

// ReadLimits reads the limits of all instance types, and the day they were listed.
func ReadLimits(moduleDir string) (byType map[string]Limit, date string, err error) {
	f, err := parseGo(filepath.Join(moduleDir, "pkg", "aws", "vpc", "limits.go"))
	if err != nil {
		return nil, "", err
	}
	lit, err := f.variable("Limits")
	if err != nil {
		return nil, "", err
	}
	byType = map[string]Limit{}
	err = f.entries(lit, func(name string, value ast.Expr) error {
		limit, err := f.limit(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		byType[name] = limit
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	date, err = f.generatedDate()
	return byType, date, err
}

func (f *goFile) limit(e ast.Expr) (Limit, error) {
	lit, err := f.composite(e)
	if err != nil {
		return Limit{}, err
	}
	var l Limit
	var trunking bool
	var defaultCard int64
	cards := map[int64]int64{} // index → interfaces
	err = f.entries(lit, func(field string, value ast.Expr) error {
		var err error
		switch field {
		case "IPv4PerInterface":
			l.Addresses, err = f.integer(value)
		case "BranchInterface":
			l.BranchInterfaces, err = f.integer(value)
		case "DefaultNetworkCardIndex":
			defaultCard, err = f.integer(value)
		case "IsTrunkingCompatible":
			trunking, err = f.boolean(value)
		case "Hypervisor":
			l.Hypervisor, err = f.text(value)
		case "NetworkCards":
			err = f.cards(value, cards)
		}
		return err
	})
	if err != nil {
		return Limit{}, err
	}
	interfaces, ok := cards[defaultCard]
	if !ok {
		return Limit{}, f.errorf(e, "network card %d, the default, is not described", defaultCard)
	}
	l.Interfaces = interfaces
	if !trunking {
		l.BranchInterfaces = 0
	}
	return l, nil
}

func (f *goFile) cards(e ast.Expr, into map[int64]int64) error {
	list, err := f.composite(e)
	if err != nil {
		return err
	}
	for _, element := range list.Elts {
		card, err := f.composite(element)
		if err != nil {
			return err
		}
		var index, interfaces int64
		err = f.entries(card, func(field string, value ast.Expr) error {
			var err error
			switch field {
			case "MaximumNetworkInterfaces":
				interfaces, err = f.integer(value)
			case "NetworkCardIndex":
				index, err = f.integer(value)
			}
			return err
		})
		if err != nil {
			return err
		}
		into[index] = interfaces
	}
	return nil
}

func (f *goFile) boolean(e ast.Expr) (bool, error) {
	if id, ok := e.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
		return id.Name == "true", nil
	}
	return false, f.errorf(e, "want true or false")
}

func (f *goFile) text(e ast.Expr) (string, error) {
	if lit, ok := e.(*ast.BasicLit); ok {
		if s, err := strconv.Unquote(lit.Value); err == nil {
			return s, nil
		}
	}
	return "", f.errorf(e, "want a string")
}

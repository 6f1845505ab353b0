package main

import (
	"fmt"
	"strings"
)

// kubectlFlag is a flag that kubectl takes before and after each of its commands.
type kubectlFlag struct {
	name, short string
	// valued is false for a flag that may stand alone, such as --insecure-skip-tls-verify.
	valued bool
}

// kubectlFlags are the flags that "kubectl options" lists, of all releases of kubectl since 1.29, and --all-namespaces.
func kubectlFlags() []kubectlFlag {
	return []kubectlFlag{
		{name: "all-namespaces", short: "A"},
		{name: "as", valued: true},
		{name: "as-group", valued: true},
		{name: "as-uid", valued: true},
		{name: "as-user-extra", valued: true},
		{name: "cache-dir", valued: true},
		{name: "certificate-authority", valued: true},
		{name: "client-certificate", valued: true},
		{name: "client-key", valued: true},
		{name: "cluster", valued: true},
		{name: "context", valued: true},
		{name: "disable-compression"},
		{name: "insecure-skip-tls-verify"},
		{name: "kubeconfig", valued: true},
		{name: "kuberc", valued: true},
		{name: "log-flush-frequency", valued: true},
		{name: "match-server-version"},
		{name: "namespace", short: "n", valued: true},
		{name: "password", valued: true},
		{name: "profile", valued: true},
		{name: "profile-output", valued: true},
		{name: "request-timeout", valued: true},
		{name: "server", short: "s", valued: true},
		{name: "tls-server-name", valued: true},
		{name: "token", valued: true},
		{name: "user", valued: true},
		{name: "username", valued: true},
		{name: "v", short: "v", valued: true},
		{name: "vmodule", valued: true},
		{name: "warnings-as-errors"},
	}
}

// call is a command line of the plugin, taken apart.
type call struct {
	// cluster are kubectl's flags, each as --NAME=VALUE, for the calls of kubectl; without the namespace, because plans
	// need the pods of all of them.
	cluster []string
	// namespace is the value of --namespace, "" without it.
	namespace string
	// command is the command of plimsoll, with its flags and arguments; empty if there is none.
	command []string
	// help says that help on the plugin itself is asked for.
	help bool
}

// parseCall takes a command line apart. kubectl's flags may stand before and after the command; an argument "--" ends
// them. A flag that kubectl does not have belongs to plimsoll after the command, and is an error before it.
func parseCall(args []string) (*call, error) {
	c := &call{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		flag, value, hasValue := kubectlFlagOf(arg)
		switch {
		case arg == "--":
			if len(c.command) > 0 {
				c.command = append(c.command, arg)
			}
			c.command = append(c.command, args...)
			return c, nil
		case flag != nil:
			if flag.valued && !hasValue {
				if len(args) == 0 {
					return nil, fmt.Errorf("flag %s needs a value", arg)
				}
				value, args = args[0], args[1:]
			}
			if !flag.valued && !hasValue {
				value = "true"
			}
			c.take(flag.name, value)
		case len(c.command) > 0 || !strings.HasPrefix(arg, "-"):
			c.command = append(c.command, arg)
		case arg == "-h" || arg == "--help":
			c.help = true
		default:
			return nil, fmt.Errorf("unknown flag %s before the command", arg)
		}
	}
	return c, nil
}

// take notes one of kubectl's flags.
func (c *call) take(name, value string) {
	switch name {
	case "all-namespaces": // they are read in any case
	case "namespace":
		c.namespace = value
	default:
		c.cluster = append(c.cluster, "--"+name+"="+value)
	}
}

// kubectlFlagOf returns the flag of kubectl that an argument gives, nil for none, and the value that stands in the same
// argument: --context=east, -n=shop or -nshop.
func kubectlFlagOf(arg string) (flag *kubectlFlag, value string, hasValue bool) {
	for _, f := range kubectlFlags() {
		if name, long := strings.CutPrefix(arg, "--"); long {
			name, value, hasValue = strings.Cut(name, "=")
			if name == f.name {
				return &f, value, hasValue
			}
			continue
		}
		if f.short == "" || !strings.HasPrefix(arg, "-"+f.short) {
			continue
		}
		value = arg[len("-"+f.short):]
		switch {
		case value == "":
			return &f, "", false
		case value[0] == '=':
			return &f, value[1:], true
		case f.valued:
			return &f, value, true
		}
	}
	return nil, "", false
}

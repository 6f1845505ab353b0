// Command kubectl-plimsoll is a plugin of kubectl: it lets kubectl list the objects that
// plimsoll reads, and passes them to plimsoll, which must be installed beside it or in PATH.
//
//	kubectl plimsoll consolidate
//	kubectl plimsoll whatif --case 'no spot: --no-spot' --context production
//
// The flags that kubectl takes with each command may stand before and after plimsoll's command.
// Objects go from one command to the other through memory alone, and without environment,
// images, arguments and annotations that plans do not read. Secrets and ConfigMaps are not
// asked for. It changes nothing in the cluster; the exit codes are the exit codes of plimsoll.
package main

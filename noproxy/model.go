package noproxy

import (
	"slices"
	"strings"
)

// Client is the model of one client and version range: which variables it
// reads, and how it reads NO_PROXY. The zero value is no client.
type Client struct{ model *model }

// ClientInfo is what is known about a client besides its rules.
type ClientInfo struct {
	// Aliases are other names that FindClients takes: programs and libraries
	// that decide with this client's code.
	Aliases []string
	// Run says whether the model was checked against the client itself;
	// Versions are those that were run, or those that were read.
	Run      bool
	Versions string
	// Source is where the rules stand: a file, an issue or a guide.
	Source string
	// HTTP, HTTPS and NoProxy are the variables for each in the order in which
	// they are asked; the first that is set wins. A client without them reads
	// no variables at all, and the JDK's are system properties.
	HTTP, HTTPS, NoProxy []string
	// Configure is how to give it a proxy where it does not read the
	// environment by itself; empty where it does.
	Configure string
	// Note is what else a user should know, in a sentence; it may be empty.
	Note string
}

// Clients gives every model, in the order of the documentation. The names are
// stable.
func Clients() []Client {
	models := slices.Concat(goModels(), curlModels(), packageModels(), pythonModels(), nodeModels(), rubyModels(), otherModels(), javaModels(), lastModels())
	clients := make([]Client, len(models))
	for i := range models {
		clients[i] = Client{&models[i]}
	}
	return clients
}

// FindClient gives the client with this name or alias; case does not count.
// Where an alias stands for several versions, as curl and git do, it is the
// newest; FindClients gives all. A client that is not modelled is not found.
func FindClient(name string) (Client, bool) {
	found := FindClients(name)
	if len(found) == 0 {
		return Client{}, false
	}
	return found[len(found)-1], true
}

// FindClients gives the clients that answer to a name, in the order of
// Clients: one where it is a client's own name, every version where it is an
// alias of several.
func FindClients(name string) []Client {
	var found []Client
	for _, c := range Clients() {
		if strings.EqualFold(c.Name(), name) {
			return []Client{c}
		}
		if slices.ContainsFunc(c.model.info.Aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			found = append(found, c)
		}
	}
	return found
}

// Name is the stable name, such as "curl 7.86-8.8".
func (c Client) Name() string { return c.model.name }

// Info is what is known about the client.
func (c Client) Info() ClientInfo {
	info := c.model.info
	info.HTTP, info.HTTPS = namesOf(c.model.http), namesOf(c.model.https)
	for _, l := range c.model.lists {
		for _, name := range l.from.names {
			if !slices.Contains(info.NoProxy, name) {
				info.NoProxy = append(info.NoProxy, name)
			}
		}
	}
	return info
}

// Environment holds the variables as a process has them. An absent key is an
// unset variable; an empty value is set and empty, which clients tell apart.
type Environment map[string]string

// Decision is what a client does with a request.
type Decision string

// The decisions.
const (
	// Direct: the client connects to the host itself.
	Direct Decision = "direct"
	// Proxied: the client asks the proxy.
	Proxied Decision = "proxy"
	// Failed: the client raises an error, for every request where the reason
	// is an entry of NO_PROXY or the proxy's URL.
	Failed Decision = "error"
	// Ignored: the client never reads these variables (ClientInfo.Configure).
	Ignored Decision = "ignored"
)

// Verdict is a decision and what it rests on.
type Verdict struct {
	Decision Decision
	// Entry is the deciding element of NO_PROXY as it was written there, without
	// white space around it; empty where none decided.
	Entry string
	// Rule is why.
	Rule RuleID
	// Proxy is the variable that gave the proxy, or that would have given it;
	// empty where none is set for the target.
	Proxy string
}

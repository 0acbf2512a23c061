package noproxy

// LintRule is a kind of fault. Its code is stable.
type LintRule struct {
	Code     string
	Severity Severity
	// Title is the fault in a few words.
	Title string
	// Fix is what to write instead.
	Fix string
	// Safe says that Fix writes a value without the fault that keeps what was
	// direct.
	Safe bool
}

// LintRules are all kinds of faults, sorted by code.
func LintRules() []LintRule {
	return []LintRule{
		{codeBlank, SeverityError, "white space in the list", "separate with commas alone", true},
		{"NP002", SeverityError, "a semicolon or a pipe as separator", "separate with commas alone", true},
		{"NP003", SeverityError, "a dot at the end of an entry", "write the name without it", true},
		{codePort, SeverityError, "a port in an entry", "write the host without port", true},
		{codeURL, SeverityError, "a scheme, a path or a user name in an entry", "write the host alone", true},
		{"NP006", SeverityError, "a variable that is set and empty", "unset it, in both cases", false},
		{"NP007", SeverityWarning, "an empty entry", "take the comma away", true},
		{codeStar, SeverityError, "a star alone", "unset the proxies instead", false},
		{codeWide, SeverityError, "an entry that takes in a top-level domain or every address", "write the zone or the range that is meant", false},
		{codeBrackets, SeverityError, "an IPv6 address in brackets", "write the address bare", true},
		{codeIPv6Range, SeverityError, "an IPv6 CIDR", "write the single addresses, or the names", false},
		{"NP012", SeverityError, "the two cases of a variable differ", "write the same value in both", true},
		{"NP013", SeverityWarning, "only one case of a variable is set", "set both cases to the same value", false},
		{"NP014", SeverityError, "a proxy URL without a scheme", "write http://HOST:PORT", false},
		{"NP015", SeverityWarning, "a proxy URL with https://", "write http://HOST:PORT: what goes to an https target is encrypted within", false},
		{"NP016", SeverityError, "credentials that are not percent-encoded", "percent-encode the user name and the password", false},
		{"NP017", SeverityWarning, "credentials with percent-encoded characters", "choose a password of letters, digits, - and _", false},
		{"NP018", SeverityError, "the link-local range without the literal addresses", "add the addresses", true},
		{"NP019", SeverityWarning, "a name in another region", "write the region of the cluster, where the host is not a bucket or an endpoint elsewhere", false},
		{"NP020", SeverityError, "a name with the domain of another partition", "write the partition's own domain", false},
		{"NP021", SeverityWarning, "eks.REGION, which takes in oidc.eks.REGION", "leave it out: the EKS API and the issuer are reached through the proxy", false},
		{"NP022", SeverityWarning, "eks.amazonaws.com, which takes in hybrid-assets.eks.amazonaws.com", "write the exact host of the cluster's endpoint", false},
		{"NP023", SeverityError, "HTTPS_PROXY without HTTP_PROXY", "set both", false},
		{"NP024", SeverityError, "HTTP_PROXY without HTTPS_PROXY", "set both", false},
		{"NP025", SeverityWarning, "a proxy without NO_PROXY", "set NO_PROXY to what eksproxy noproxy compute prints", false},
		{"NP026", SeverityError, "a control character", "write the value on one line, without line end", true},
		{codePattern, SeverityError, "an address with a star, or a part of an address", "write the CIDR", true},
		{"NP028", SeverityError, "a comment behind a value", "write comments on lines of their own", true},
		{"NP029", SeverityError, "quotes in a value", "write the value without quotes", true},
		{codeRange, SeverityError, "a CIDR with host bits, or none at all", "write the range, as in 10.0.0.0/8", true},
		{codeNoEntry, SeverityError, "text that is no host, zone, address or CIDR", "write a host, a .zone, an address or a CIDR", false},
		{"NP032", SeverityWarning, "a zone in one form only", "write .zone and *.zone", true},
		{"NP033", SeverityWarning, "a whole domain of AWS, or of a region", "write the exact hosts for which the VPC has an endpoint", false},
		{"NP034", SeverityWarning, ".internal, which takes in more than EC2's names", "write REGION.compute.internal, in us-east-1 ec2.internal", false},
		{"NP035", SeverityWarning, "a service range without the address of the API server", "add its first address", true},
		{"NP036", SeverityWarning, "an entry that stands twice", "write it once", true},
	}
}

// lintRule is the rule with a code.
func lintRule(code string) LintRule {
	for _, r := range LintRules() {
		if r.Code == code {
			return r
		}
	}
	return LintRule{Code: code, Severity: SeverityError}
}

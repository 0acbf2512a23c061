package secretref

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Each answer of a service has its kind and its remedy; none is tried again.
func TestAnswers(t *testing.T) {
	denied := "User: arn:aws:sts::1:assumed-role/node-role/i-1 is not authorized to perform: "
	for name, c := range map[string]struct {
		ref    string
		answer http.HandlerFunc
		kind   Kind
		words  []string
	}{
		"denied by ARN":     {"secretsmanager:" + secretARN, refuse("AccessDeniedException", denied+"secretsmanager:GetSecretValue"), Denied, []string{"400: AccessDeniedException: User:", "allow secretsmanager:GetSecretValue on " + secretARN, "docs/permissions.md"}},
		"denied by name":    {"secretsmanager:corp/proxy", refuse("AccessDeniedException", ""), Denied, []string{"on arn:aws:secretsmanager:eu-west-1:*:secret:corp/proxy-??????"}},
		"denied parameter":  {"ssm:/corp/proxy:2", refuse("AccessDeniedException", denied+"ssm:GetParameter"), Denied, []string{"allow ssm:GetParameter on arn:aws:ssm:eu-west-1:*:parameter/corp/proxy in"}},
		"a name with kms":   {"ssm:kms", refuse("AccessDeniedException", denied+"ssm:GetParameter on resource: parameter/kms"), Denied, []string{"allow ssm:GetParameter"}},
		"denied key":        {"secretsmanager:x", refuse("AccessDeniedException", "Access to KMS is not allowed"), Denied, []string{"allow kms:Decrypt", "com.amazonaws.eu-west-1.kms"}},
		"denied key of SSM": {"ssm:x", refuse("AccessDeniedException", denied+"kms:Decrypt on resource"), Denied, []string{"allow kms:Decrypt"}},
		"no secret":         {"secretsmanager:x", refuse("ResourceNotFoundException", "Secrets Manager can't find the specified secret."), NotFound, []string{"there is no x in eu-west-1"}},
		"no parameter":      {"ssm:/a/b", refuse("ParameterNotFound", ""), NotFound, []string{"there is no /a/b in eu-west-1"}},
		"by header":         {"ssm:x", byHeader, NotFound, []string{"400: ParameterNotFound"}},
		"deleted":           {"secretsmanager:x", refuse("InvalidRequestException", "marked for deletion"), Failed, []string{"marked for deletion", "secretsmanager GetSecretValue"}},
		"signature":         {"ssm:x", refuse("InvalidSignatureException", "no match"), Failed, []string{"clock", "region eu-west-1"}},
		"a sign-in page":    {"ssm:x", reply(200, "<html>Please sign in</html>"), Unreachable, []string{"something else answered", "interface endpoint com.amazonaws.eu-west-1.ssm"}},
		"a proxy's refusal": {"ssm:x", reply(403, "<html>Forbidden</html>"), Unreachable, []string{"403 Forbidden", "called directly, never through the proxy"}},
		"another document":  {"secretsmanager:x", reply(200, `{"a":1}`), Unreachable, []string{"something else answered"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.answer)
			_, err := get(t, c.ref, f.options())
			checkError(t, err, c.kind, append(c.words, "fetching "+c.ref+": POST "+f.URL+"/")...)
			if len(f.sent()) != 1 {
				t.Errorf("asked %d times", len(f.sent()))
			}
		})
	}
}

func byHeader(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Amzn-ErrorType", "ParameterNotFound:http://internal.amazon.com/")
	reply(http.StatusBadRequest, "{}")(w, r)
}

// What the request was signed with may come back in a message; what came with
// the message may be no text.
func TestEcho(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		refuse("Bad\n\x1b[2JException", r.Header.Get("X-Amz-Security-Token")+" "+r.Header.Get("Authorization")+" "+secretKey+"\n\x1b[31m"+strings.Repeat("x", 5000))(w, r)
	})
	_, err := get(t, "ssm:x", f.options())
	checkError(t, err, Failed, "[secret]")
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// Values that are no credentials are refused without a word of them.
func TestMalformed(t *testing.T) {
	for name, c := range map[string]struct{ text, key, word string }{
		"no colon":     {"nocolon-coreZk7", "", "no colon"},
		"two lines":    {"u:" + password + "\nHTTP_PROXY=x", "", "more than one line"},
		"bad JSON":     {`{"username":"u","password":"` + password, "", "not a JSON object"},
		"no password":  {`{"username":"u"}`, "", `no field "password"`},
		"no user":      {`{"password":"` + password + `"}`, "", `no field "username"`},
		"a number":     {`{"username":"u","password":1}`, "", `"password"`},
		"colon":        {`{"username":"u:v","password":"` + password + `"}`, "", "colon"},
		"a control":    {"u:\x1b" + password, "", "not printable ASCII"},
		"key, no JSON": {"u:" + password, "#k", "not a JSON object"},
		"key, null":    {"null", "#k", "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Credentials(t.Context(), "secretsmanager:x"+c.key, newFake(t, secret(c.text)).options())
			checkError(t, err, Malformed, c.word, "correct the value in Secrets Manager")
		})
	}
}

// Each way in which metadata gives no credentials.
func TestMetadataFaults(t *testing.T) {
	const document = rolePath + "node-role"
	for name, c := range map[string]struct {
		path   string
		answer http.HandlerFunc
		kind   Kind
		words  []string
	}{
		"no role":      {rolePath, reply(404, ""), Denied, []string{"GET ", rolePath + ": 404 Not Found", "instance profile", "secretsmanager:GetSecretValue"}},
		"no document":  {document, reply(404, ""), Unreachable, []string{"404"}},
		"not assumed":  {document, reply(200, `{"Code":"AssumeRoleUnauthorizedAccess","Message":"x"}`), Denied, []string{"AssumeRoleUnauthorizedAccess"}},
		"not JSON":     {document, reply(200, "<"+secretKey+">"), Unreachable, []string{"no credentials of a role"}},
		"no keys":      {document, reply(200, `{"Code":"Success"}`), Unreachable, []string{"no credentials of a role"}},
		"empty list":   {rolePath, reply(200, ""), Unreachable, []string{"no credentials of a role"}},
		"server error": {rolePath, reply(500, ""), Unreachable, []string{"500"}},
		"hang":         {rolePath, hang, Unreachable, []string{rolePath, "3 tries", "--imds-endpoint"}},
		"reset":        {rolePath, reset, Unreachable, []string{rolePath}},
		"token 403":    {"/latest/api/token", reply(403, ""), Unreachable, []string{"PUT ", "/latest/api/token: 403", "modify-instance-metadata-options"}},
		"a bad region": {"/placement/region", reply(200, "eu-west-1.evil/"), Unreachable, []string{"placement/region"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, secret("u:p"))
			f.faults[c.path] = c.answer
			_, err := get(t, "secretsmanager:x", f.options())
			checkError(t, err, c.kind, c.words...)
			if len(f.sent()) != 0 {
				t.Error("the service was asked")
			}
		})
	}
}

// A node without IPv4 reads metadata over IPv6.
func TestMetadataOverIPv6(t *testing.T) {
	f := newFake(t, secret("u:p"))
	r, err := parse("secretsmanager:x")
	if err != nil {
		t.Fatal(err)
	}
	x, err := newFetcher(r, Options{Getenv: f.options().Getenv}, quick())
	if err != nil {
		t.Fatal(err)
	}
	x.metadata.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "[fd00:ec2::254]") {
			return nil, errors.New("network is unreachable")
		}
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(f.URL, "http://"))
	}
	if _, err := x.run(t.Context()); err != nil {
		t.Error(err)
	}
}

// Nobody there: the endpoint that is missing is named.
func TestUnreachable(t *testing.T) {
	f := newFake(t)
	for ref, word := range map[string]string{
		"secretsmanager:" + secretARN:                                "com.amazonaws.eu-west-1.secretsmanager with private DNS",
		"ssm:arn:aws-cn:ssm:cn-north-1:1:parameter/x":                "cn.com.amazonaws.cn-north-1.ssm",
		"secretsmanager:arn:aws:secretsmanager:eu-west-1:1:secret:x": "connection refused",
	} {
		_, err := get(t, ref, Options{IMDSEndpoint: f.URL, Getenv: getenv(map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})})
		checkError(t, err, Unreachable, word, "3 tries")
	}
}

// References are refused without being quoted where they may be credentials.
func TestReferencesRefused(t *testing.T) {
	for ref, word := range map[string]string{
		"":                                     "allowed: secretsmanager:ARN[#key], ssm:NAME, file:PATH",
		"svc:" + password:                      "of no known kind",
		password:                               "of no known kind",
		"SSM:x":                                "of no known kind",
		"ssm:":                                 "of no known kind",
		"file:":                                "of no known kind",
		"secretsmanager:x#":                    "ends in #",
		"ssm:a b" + password:                   "has a character",
		"ssm:x\nHost: y":                       "has a character",
		"secretsmanager:a:" + "coreZk7":        "neither an ARN nor a name",
		"secretsmanager:arn:aws:ssm:a":         "not of the form arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME",
		"ssm:" + secretARN:                     "not of the form arn:aws:ssm:REGION:ACCOUNT:parameter/NAME",
		"secretsmanager:" + secretARN + ":k::": "not of the form",
		"secretsmanager:arn:aws:secretsmanager:evil.example/:1:secret:x": "has a character",
		"secretsmanager:arn:aws:secretsmanager:evil.example:1:secret:x":  "not of the form",
	} {
		err := Check(ref)
		if strings.Contains(ref, "evil.example/") {
			word = "not of the form"
		}
		checkWords(t, err, word)
	}
	for _, ref := range []string{"ssm:/a/b.c_d-e", "secretsmanager:a/b+c=d@e", "secretsmanager:" + secretARN + "#k", "file:/a:b#c"} {
		if err := Check(ref); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

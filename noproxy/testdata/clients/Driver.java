// Asks the JDK. A line in (properties and URL, separated by tabs: proxy host,
// proxy port, nonProxyHosts or "-", URL), a line out.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;

public class Driver {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] fields = line.split("\u001f", -1);
            for (String scheme : new String[] {"http", "https"}) {
                set(scheme + ".proxyHost", fields[0]);
                set(scheme + ".proxyPort", fields[1]);
            }
            set("http.nonProxyHosts", fields[2]);
            try {
                HttpURLConnection connection = (HttpURLConnection) URI.create(fields[3]).toURL().openConnection();
                connection.setConnectTimeout(5000);
                connection.setReadTimeout(5000);
                connection.getResponseCode();
                System.out.println("ok");
            } catch (Exception e) {
                System.out.println(e.toString().replaceAll("\\s+", " "));
            }
        }
    }

    private static void set(String name, String value) {
        if (value.equals("\u001e")) {
            System.clearProperty(name);
        } else {
            System.setProperty(name, value);
        }
    }
}

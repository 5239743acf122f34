import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;

/** Runs the statements of a file, one after the other, on a Flink cluster in this process: java Join.java join.sql BROKERS */
public class Join {
  public static void main(String[] arguments) throws Exception {
    TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    flink.getConfig().set("parallelism.default", "2"); // as many as the topics have partitions
    String statements = Files.readString(Path.of(arguments[0])).replace("${brokers}", arguments[1]);
    for (String statement : statements.split(";\\s*(\\n|$)")) {
      if (statement.isBlank()) {
        continue;
      }
      TableResult result = flink.executeSql(statement);
      if (result.getJobClient().isPresent()) {
        result.await(); // it ends where the topics ended at its start
      }
    }
  }
}

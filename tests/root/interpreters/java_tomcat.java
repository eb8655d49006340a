// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.IOException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/* Tomcat 10 with the pages of java_shop: java_tomcat PORT DIRECTORY [virtual]. */
public class java_tomcat {
	static class Shop extends HttpServlet {
		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
			try {
				response.getWriter().print(java_shop.page(request.getPathInfo()));
			} catch (Exception e) {
				throw new IOException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Tomcat tomcat = new Tomcat();

		java_shop.fill();
		tomcat.setBaseDir(args[1]);
		tomcat.setPort(Integer.parseInt(args[0]));
		Context context = tomcat.addContext("", args[1]);
		Tomcat.addServlet(context, "shop", new Shop());
		context.addServletMappingDecoded("/*", "shop");
		/* With `virtual`, each request has a virtual thread. */
		tomcat.getConnector().setProperty("useVirtualThreads", String.valueOf(args.length > 2));
		tomcat.start();
		System.out.println("ready " + ProcessHandle.current().pid());
		tomcat.getServer().await();
	}
}
